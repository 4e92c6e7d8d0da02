"""Let the agent's tool see and change schedules."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.schedule_ports import ListedSchedule, ScheduleView, Timing
from hermes_acp.runs.run_service import RunRequest, RunService
from hermes_acp.runs.schedule_times import check_timing, describe_cron, local_zone

AT_HINT = "Use a local time such as 2026-12-24T18:00."


class RunSchedules:
    """Changes the schedules of a home folder. Their runs use the configured mode, whatever the session's mode is."""

    def __init__(self, service: RunService, place: str) -> None:
        self._service = service
        self.place = place

    def timing(self, cron: str, at: str, tz: str) -> tuple[Timing, str]:
        """Return a timing and its description in words. Raises BadRequest."""
        return read_timing(cron, at, tz)

    async def add(self, prompt: str, cwd: str, timing: Timing, name: str, session_id: str) -> ListedSchedule:
        """Add a schedule on behalf of a session's agent. Raises BadRequest or StorageError."""
        request = RunRequest(prompt, cwd, origin=f"session:{session_id}")
        return await self._listed(await self._service.add_schedule(request, timing, name=name))

    async def find(self, name: str) -> ListedSchedule:
        """Return the schedule with a name. Raises BadRequest."""
        view = await self._service.engine.schedules.show(name)
        if view is None:
            raise BadRequest(f"There is no schedule {name!r}.")
        return await self._listed(view)

    async def remove(self, name: str) -> None:
        """Remove a schedule. Raises BadRequest or StorageError."""
        await self._service.engine.schedules.remove(name)

    async def list(self) -> Sequence[ListedSchedule]:
        """List all schedules, the next due first."""
        return [await self._listed(view) for view in await self._service.engine.schedules.list()]

    async def _listed(self, view: ScheduleView) -> ListedSchedule:
        prompt = await self._service.prompt_by_name(view.schedule.template.prompt_ref)
        return ListedSchedule(view, prompt, describe_timing(view.schedule.timing))


def read_timing(cron: str, at: str, tz: str) -> tuple[Timing, str]:
    """Return a timing and its description in words. Without `tz`, the machine's time zone applies.

    Raises BadRequest.
    """
    if bool(cron) == bool(at):
        raise BadRequest("Give either cron or at.")
    zone = tz or local_zone()
    timing = Timing(cron, _moment(at, zone) if at else 0.0, zone)
    check_timing(timing)
    return timing, describe_timing(timing)


def describe_timing(timing: Timing) -> str:
    """Describe in words when a schedule is due."""
    if timing.cron:
        return f"{describe_cron(timing)} ({timing.tz})"
    moment = datetime.fromtimestamp(timing.at, ZoneInfo(timing.tz))
    return f"Once at {moment:%Y-%m-%d %H:%M} ({timing.tz})"


def _moment(at: str, tz: str) -> float:
    check_timing(Timing(at=1.0, tz=tz))
    try:
        moment = datetime.fromisoformat(at)
    except ValueError as error:
        raise BadRequest(f"{at!r} is not a time.", hint=AT_HINT) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(tz))).timestamp()


def schedules_for_agent(service: RunService, home: Path) -> RunSchedules | None:
    """Return the schedules for the agent's tool, or None in a process that does not work on runs."""
    return RunSchedules(service, str(home / "runs" / "schedules")) if service.is_resident else None
