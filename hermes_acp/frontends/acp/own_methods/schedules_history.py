"""_hermes/schedules/history: the outcomes of a schedule's due times, including those without a run."""

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.schedule_ports import Occurrence
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.frontends.acp.translation.timestamps import iso_time
from hermes_protocol import own

MAX_RESULTS = 500


async def show_history(
    client: ClientConnection, params: own.SchedulesHistoryParams
) -> own.SchedulesHistoryResult:
    """List due times, newest first. Raises BadRequest or StorageError."""
    schedules = client.app.run_service.engine.schedules
    if await schedules.show(params.id) is None:
        raise BadRequest(errors.unknown_schedule(params.id))
    history = await schedules.history(params.id, max(1, min(params.limit, MAX_RESULTS)))
    return own.SchedulesHistoryResult(occurrences=[_entry(each) for each in history])


def _entry(each: Occurrence) -> own.SchedulesHistoryOccurrence:
    return own.SchedulesHistoryOccurrence(
        due_at=iso_time(each.due_at),
        until=iso_time(each.until) if each.count > 1 else "",
        count=each.count,
        fate=each.fate,
        run_id=each.run_id,
        decided_at=iso_time(each.decided_at),
    )


EXTENSION = Method(own.SchedulesHistoryParams, show_history, access="any")
