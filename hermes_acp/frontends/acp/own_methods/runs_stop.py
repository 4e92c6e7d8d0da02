"""_hermes/runs/stop: end a run."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import own


async def stop_run(client: ClientConnection, params: own.RunsStopParams) -> own.RunsStopResult:
    """Stop a run in any state. Raises BadRequest or StorageError."""
    service = client.app.run_service
    run = await service.known(params.id)
    return own.RunsStopResult(state=(await service.engine.stop(run.order.id)).state)


EXTENSION = Method(own.RunsStopParams, stop_run, access="any")
