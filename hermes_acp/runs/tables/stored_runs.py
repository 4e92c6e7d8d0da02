"""The runs of a home folder, in any database and with any workers."""

import re
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final, Protocol

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.run_ports import (
    ENDED,
    MAX_PRIORITY,
    MIN_PRIORITY,
    Driver,
    RunChange,
    RunFilter,
    RunMessage,
    RunOrder,
    RunState,
    RunView,
    WorkScope,
)
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.core.ports.schedule_ports import Prompts
from hermes_acp.runs.tables.run_pruning import prune
from hermes_acp.runs.tables.run_tables import (
    insert_message,
    insert_run,
    last_cursor,
    note_change,
    select_changes,
    select_run,
    select_runs,
)
from hermes_acp.runs.tables.stored_schedules import StoredSchedules
from hermes_acp.runs.tables.table_connection import TableConnection, TableDatabase

RUN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")


class Changes(Protocol):
    """Waits for changes to runs."""

    async def wait(self) -> None:
        """Wait until there may have been changes since the last call."""
        ...


class Workforce(Protocol):
    """The workers of an engine: how they are notified and detected."""

    async def announce(self) -> None:
        """Tell workers and watchers that runs have changed."""
        ...

    def watching(self) -> AbstractAsyncContextManager[Changes]:
        """Wait for changes while the block runs. Raises StorageError."""
        ...

    async def has_worker(self, place: str) -> bool:
        """Return whether a running process works on the runs of a place."""
        ...

    async def work(self, driver: Driver, scope: WorkScope) -> None:
        """Work on due runs until cancelled or drained."""
        ...

    async def aclose(self) -> None:
        """Release resources."""
        ...


class StoredRuns:
    """The runs of one home folder in a database, worked on by a workforce; implements `Engine`."""

    def __init__(self, database: TableDatabase, clock: Clock, workforce: Workforce, prompts: Prompts) -> None:
        """Store the arguments; nothing is opened yet."""
        self.prompts = prompts
        self._database = database
        self._clock = clock
        self._workforce = workforce
        self.schedules = StoredSchedules(database, clock, workforce.announce)

    async def start(self, order: RunOrder) -> RunView:
        """Add a run; if there already is one with this ID, return it unchanged. Raises BadRequest or StorageError."""
        if not RUN_ID.fullmatch(order.id):
            raise BadRequest(
                f"{order.id!r} is not a valid run ID.", hint="Use letters, digits, -, _, . and :."
            )
        if not MAX_PRIORITY <= order.priority <= MIN_PRIORITY:
            raise BadRequest(
                f"The priority {order.priority} is not valid.", hint="Use 1 (first) to 5 (last)."
            )
        now = self._clock.now()
        view = await self._database.write(
            lambda connection: (insert_run(connection, order, now), _known(connection, order.id))[1]
        )
        await self._workforce.announce()
        return view

    async def signal(self, run_id: str, message: RunMessage) -> RunView:
        """Store an answer, and queue the run that was waiting for it. Raises BadRequest or StorageError."""

        def store(connection: TableConnection, run: RunView) -> None:
            if message.call_id not in run.waits_for:
                raise BadRequest(
                    f"Run {run_id!r} is not waiting for an answer about {message.call_id!r}.",
                    hint=f"It is {run.state.replace('_', ' ')}.",
                )
            insert_message(connection, run_id, message)
            _queue(connection, run_id, self._clock.now())

        return await self._change(run_id, store)

    async def stop(self, run_id: str) -> RunView:
        """Stop a run; one that is in progress ends as soon as its worker is notified. Raises BadRequest."""

        def end(connection: TableConnection, run: RunView) -> None:
            if run.state in ENDED:
                raise BadRequest(f"Run {run_id!r} has already ended: it is {run.state}.")
            if run.state == "running":
                connection.execute("UPDATE runs SET must_stop = 1 WHERE id = ?", (run_id,))
                return
            now = self._clock.now()
            connection.execute(
                "UPDATE runs SET state = 'stopped', waits_for = '[]', sentence = '', updated_at = ? WHERE id = ?",
                (now, run_id),
            )
            note_change(connection, run_id, "stopped", now)

        return await self._change(run_id, end)

    async def retry(self, run_id: str) -> RunView:
        """Queue a failed or parked run again. Raises BadRequest."""
        repeatable: tuple[RunState, ...] = ("failed", "parked")

        def again(connection: TableConnection, run: RunView) -> None:
            if run.state not in repeatable:
                raise BadRequest(
                    f"Run {run_id!r} is {run.state.replace('_', ' ')}.",
                    hint="Only a failed or parked run can be retried.",
                )
            _queue(connection, run_id, self._clock.now())

        return await self._change(run_id, again)

    async def show(self, run_id: str) -> RunView | None:
        """Return a run, or None if its ID is unknown."""
        return await self._database.read(lambda connection: select_run(connection, run_id))

    async def list(self, which: RunFilter) -> Sequence[RunView]:
        """List runs, the newest first."""
        return await self._database.read(lambda connection: select_runs(connection, which))

    async def changes(self, after: int, limit: int = 1000) -> Sequence[RunChange]:
        """List the changes after a cursor, the oldest first."""
        return await self._database.read(lambda connection: select_changes(connection, after, limit))

    @asynccontextmanager
    async def watch(self, after: int | None = None) -> AsyncGenerator[AsyncGenerator[RunChange]]:
        """Follow the changes after a cursor, or from now on."""
        cursor = await self._database.read(last_cursor) if after is None else after
        async with self._workforce.watching() as changes:
            yield self._follow(cursor, changes)

    async def _follow(self, cursor: int, changes: Changes) -> AsyncGenerator[RunChange]:
        while True:
            for change in await self.changes(cursor):
                cursor = change.cursor
                yield change
            await changes.wait()

    async def prune(self, before: float) -> int:
        """Delete runs that ended before a time, and the history of due times before it; return the number of runs."""
        return await self._database.write(lambda connection: prune(connection, before))

    async def has_worker(self, place: str = "") -> bool:
        """Return whether a running process works on the runs of a place."""
        return await self._workforce.has_worker(place)

    async def work(self, driver: Driver, scope: WorkScope) -> None:
        """Work on due runs until cancelled or drained."""
        await self._workforce.work(driver, scope)

    async def aclose(self) -> None:
        """Close the database."""
        await self._workforce.aclose()
        await self._database.aclose()

    async def _change(self, run_id: str, change: Callable[[TableConnection, RunView], None]) -> RunView:
        """Change an existing run and return its new state. Raises BadRequest or StorageError."""

        def work(connection: TableConnection) -> RunView:
            change(connection, _known(connection, run_id))
            return _known(connection, run_id)

        view = await self._database.write(work)
        await self._workforce.announce()
        return view


def _known(connection: TableConnection, run_id: str) -> RunView:
    run = select_run(connection, run_id)
    if run is None:
        raise BadRequest(f"There is no run {run_id!r}.", hint="List the runs: hermes-acp runs list.")
    return run


def _queue(connection: TableConnection, run_id: str, now: float) -> None:
    """Queue a failed, parked or suspended run, and reset its crash count."""
    connection.execute(
        """UPDATE runs SET state = 'queued', waits_for = '[]', sentence = '', failure = '', crashes = 0, busy = 0,
           not_before = 0, updated_at = ? WHERE id = ?""",
        (now, run_id),
    )
    note_change(connection, run_id, "queued", now)
