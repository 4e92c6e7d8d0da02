"""The schedules of a home folder, in any database."""

import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.run_ports import RunView
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.core.ports.schedule_ports import Occurrence, Schedule, ScheduleView
from hermes_acp.runs.schedule_decisions import Decision, skip_due_times
from hermes_acp.runs.schedule_times import check_timing, next_due
from hermes_acp.runs.tables.run_tables import select_run
from hermes_acp.runs.tables.schedule_tables import (
    append_occurrence,
    decided_until,
    insert_schedule,
    select_history,
    select_schedules,
    start_run,
    store_decisions,
)
from hermes_acp.runs.tables.table_connection import TableConnection, TableDatabase

T = TypeVar("T")
SCHEDULE_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class StoredSchedules:
    """Changes and lists schedules. Workers start their runs."""

    def __init__(
        self, database: TableDatabase, clock: Clock, announce: Callable[[], Awaitable[None]]
    ) -> None:
        self._database = database
        self._clock = clock
        self._announce = announce

    async def add(self, schedule: Schedule) -> ScheduleView:
        """Add a schedule. Raises BadRequest if its ID is taken or it is never due, or StorageError."""
        if not SCHEDULE_ID.fullmatch(schedule.id):
            raise BadRequest(f"{schedule.id!r} is not a valid name.", hint="Use letters, digits, - and _.")
        check_timing(schedule.timing)
        now = self._clock.now()
        next_at = next_due(schedule.timing, now)
        if next_at is None:
            raise BadRequest("The schedule would never be due.", hint="Choose a time in the future.")

        def insert(connection: TableConnection) -> ScheduleView:
            if not insert_schedule(connection, schedule, next_at, now):
                raise BadRequest(
                    f"There is a schedule {schedule.id!r} already.",
                    hint="Remove it first, or choose another name.",
                )
            return _known(connection, schedule.id)

        return await self._write(insert)

    async def pause(self, schedule_id: str) -> ScheduleView:
        """Pause a schedule, so that it starts no runs until it is resumed. Raises BadRequest."""

        def pause(connection: TableConnection) -> ScheduleView:
            _known(connection, schedule_id)
            connection.execute("UPDATE schedules SET is_paused = 1 WHERE id = ?", (schedule_id,))
            return _known(connection, schedule_id)

        return await self._write(pause)

    async def resume(self, schedule_id: str) -> ScheduleView:
        """Start runs for a schedule again from now on; due times during the pause are recorded in the history.

        Raises BadRequest.
        """

        def resume(connection: TableConnection) -> ScheduleView:
            view, now = _known(connection, schedule_id), self._clock.now()
            if view.is_paused:
                passed = skip_due_times(view.schedule, decided_until(connection, schedule_id), now)
                store_decisions(connection, view.schedule, passed, now)
                connection.execute("UPDATE schedules SET is_paused = 0 WHERE id = ?", (schedule_id,))
            return _known(connection, schedule_id)

        return await self._write(resume)

    async def remove(self, schedule_id: str) -> None:
        """Remove a schedule and its history; its runs are kept. Raises BadRequest."""

        def remove(connection: TableConnection) -> None:
            _known(connection, schedule_id)
            connection.execute("DELETE FROM schedules WHERE id = ?", (schedule_id,))
            connection.execute("DELETE FROM occurrences WHERE schedule_id = ?", (schedule_id,))

        await self._write(remove)

    async def run_now(self, schedule_id: str) -> RunView:
        """Start a run now, in addition to those that are due. Raises BadRequest."""

        def start(connection: TableConnection) -> RunView:
            view, now = _known(connection, schedule_id), self._clock.now()
            run_id = start_run(connection, view.schedule, now, now)
            append_occurrence(connection, schedule_id, Decision(now, "started"), now, run_id)
            run = select_run(connection, run_id)
            assert run, "it was just inserted"
            return run

        return await self._write(start)

    async def show(self, schedule_id: str) -> ScheduleView | None:
        """Return a schedule, or None if it does not exist."""
        found = await self._database.read(lambda connection: select_schedules(connection, schedule_id))
        return found[0] if schedule_id and found else None

    async def list(self) -> Sequence[ScheduleView]:
        """List schedules, the next due first."""
        return await self._database.read(select_schedules)

    async def history(self, schedule_id: str, limit: int = 50) -> Sequence[Occurrence]:
        """List the outcomes of due times, the newest first."""
        return await self._database.read(lambda connection: select_history(connection, schedule_id, limit))

    async def _write(self, work: Callable[[TableConnection], T]) -> T:
        result = await self._database.write(work)
        await self._announce()
        return result


def _known(connection: TableConnection, schedule_id: str) -> ScheduleView:
    found = select_schedules(connection, schedule_id) if schedule_id else []
    if not found:
        raise BadRequest(
            f"There is no schedule {schedule_id!r}.", hint="List them: hermes-acp schedule list."
        )
    return found[0]
