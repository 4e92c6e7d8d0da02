"""_hermes/schedules/change: pause, resume or remove a schedule, or start a run of it now."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import own


async def change_schedule(
    client: ClientConnection, params: own.SchedulesChangeParams
) -> own.SchedulesChangeResult:
    """Carry out one change to a schedule. Raises BadRequest or StorageError."""
    schedules = client.app.run_service.engine.schedules
    match params.action:
        case "pause":
            await schedules.pause(params.id)
        case "resume":
            await schedules.resume(params.id)
        case "remove":
            await schedules.remove(params.id)
        case "runNow":
            run = await schedules.run_now(params.id)
            return own.SchedulesChangeResult(run_id=run.order.id)
    return own.SchedulesChangeResult(run_id="")


EXTENSION = Method(own.SchedulesChangeParams, change_schedule, access="any")
