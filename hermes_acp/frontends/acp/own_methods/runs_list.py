"""_hermes/runs/list: the runs of this home, newest first."""

from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.run_ports import RunFilter, RunView
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.timestamps import iso_time
from hermes_protocol import own

MAX_RESULTS = 200


async def list_runs(client: ClientConnection, params: own.RunsListParams) -> own.RunsListResult:
    """List runs, and say whether any process works on them. Raises StorageError."""
    engine = client.app.run_service.engine
    views = await engine.list(RunFilter(limit=max(1, min(params.limit, MAX_RESULTS))))
    return own.RunsListResult(
        runs=[await _entry(client, view) for view in views], is_driven=await engine.has_worker()
    )


async def _entry(client: ClientConnection, view: RunView) -> own.RunsListRun:
    try:
        prompt = await client.app.run_service.prompt_of(view)
    except StorageError:
        prompt = ""
    return own.RunsListRun(
        id=view.order.id,
        session_id=view.order.session_id,
        cwd=view.order.cwd,
        state=view.state,
        prompt=prompt,
        sentence=view.sentence,
        origin=view.order.origin,
        created_at=iso_time(view.created_at),
        updated_at=iso_time(view.updated_at),
    )


EXTENSION = Method(own.RunsListParams, list_runs, access="any")
