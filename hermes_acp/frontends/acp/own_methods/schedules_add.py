"""_hermes/schedules/add: add a schedule, or only check when it would be due."""

from pathlib import Path
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync
from msgspec import UNSET

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.run_ports import RunBudget
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.frontends.acp.translation.timestamps import iso_time
from hermes_protocol import own

if TYPE_CHECKING:
    from hermes_acp.core.ports.schedule_ports import Timing


async def add_schedule(client: ClientConnection, params: own.SchedulesAddParams) -> own.SchedulesAddResult:
    """Add a schedule; its runs work in the configured mode. Raises BadRequest or StorageError."""
    from hermes_acp.runs.run_service import RunRequest

    service = client.app.run_service
    timing, words, due = await run_sync(_due, params, service.now())
    if not params.prompt.strip():
        raise BadRequest(errors.EMPTY_PROMPT)
    if not await run_sync(_is_folder, params.cwd):
        raise BadRequest(errors.folder_missing(params.cwd))
    if params.is_trial:
        return own.SchedulesAddResult(id="", when=words, next_at=iso_time(due) if due else "")
    cost = None if params.max_cost_usd is UNSET else params.max_cost_usd
    view = await service.add_schedule(
        RunRequest(params.prompt, params.cwd, budget=RunBudget(max_cost_usd=cost)),
        timing,
        name=params.name,
        late=(params.late, params.late_within_s),
        overlap=params.overlap,
    )
    next_at = iso_time(view.next_at) if view.next_at else ""
    return own.SchedulesAddResult(id=view.schedule.id, when=words, next_at=next_at)


def _due(params: own.SchedulesAddParams, now: float) -> "tuple[Timing, str, float | None]":
    """Return the timing, its description in words, and the first due time. Raises BadRequest."""
    from hermes_acp.runs.agent_schedules import read_timing
    from hermes_acp.runs.schedule_times import next_due

    timing, words = read_timing(params.cron.strip(), params.at.strip(), params.tz.strip())
    return timing, words, next_due(timing, now)


def _is_folder(path: str) -> bool:
    return Path(path).is_absolute() and Path(path).is_dir()


EXTENSION = Method(own.SchedulesAddParams, add_schedule, access="any")
