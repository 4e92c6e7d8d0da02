"""_hermes/waiting/list: the open questions that no client is showing."""

from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.run_ports import RunFilter, RunView
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.timestamps import iso_time
from hermes_acp.sessions.session import Session
from hermes_protocol import own

MAX_RUNS = 200


async def list_waiting(client: ClientConnection, params: own.WaitingListParams) -> own.WaitingListResult:
    """List runs that wait for an answer, and open sessions that ask while nobody is attached. Raises StorageError."""
    views = await client.app.run_service.engine.list(RunFilter(("input_required",), limit=MAX_RUNS))
    runs = [await _run(client, view) for view in views]
    driven = {run.session_id for run in runs}
    sessions = [
        _session(session)
        for session in client.app.sessions.opened
        if session.clients.asks and not session.clients.controllers and session.id not in driven
    ]
    return own.WaitingListResult(waiting=[*sessions, *runs])


def _session(session: Session) -> own.WaitingListWaiting:
    return own.WaitingListWaiting(
        kind="session",
        id=session.id,
        session_id=session.id,
        cwd=session.record.cwd,
        title=session.record.title,
        questions=list(session.clients.asks),
        updated_at="",
    )


async def _run(client: ClientConnection, view: RunView) -> own.WaitingListWaiting:
    service = client.app.run_service
    try:
        prompt = await service.prompt_of(view)
        questions = await service.records.questions_of(view)
    except StorageError:  # list it anyway, because it needs attention
        prompt, questions = "", ()
    return own.WaitingListWaiting(
        kind="run",
        id=view.order.id,
        session_id=view.order.session_id,
        cwd=view.order.cwd,
        title=next(iter(prompt.strip().splitlines()), ""),
        questions=[each.asks.question if each.is_for_text else each.card.title for each in questions],
        updated_at=iso_time(view.updated_at),
    )


EXTENSION = Method(own.WaitingListParams, list_waiting, access="any")
