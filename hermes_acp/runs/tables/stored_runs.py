"""The embedded engine: runs in `runs.db`, driven by any number of processes of one machine."""

import os
import re
import sqlite3
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import anyio
from anyio.to_thread import run_sync

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
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.sqlite.embedded_schedules import EmbeddedSchedules
from hermes_acp.runs.sqlite.run_database import ChangeProbe, RunDatabase
from hermes_acp.runs.sqlite.run_pruning import prune
from hermes_acp.runs.sqlite.run_tables import (
    MIGRATIONS,
    PLACES,
    insert_message,
    insert_run,
    last_cursor,
    note_change,
    select_changes,
    select_run,
    select_runs,
    workers_at,
)
from hermes_acp.runs.sqlite.run_worker import RunWorker
from hermes_acp.runs.sqlite.schedule_tables import SCHEDULES
from hermes_acp.runs.sqlite.worker_presence import WorkerPresence, presence_of, wake_workers, workers_in

RUN_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")
FOREGROUND: Final = "only"
"""How the IDs of workers begin that drive a single run."""


class EmbeddedRuns:
    """The runs of one home, as one process sees them."""

    def __init__(self, home: Path, clock: Clock, settings: EngineSettings) -> None:
        """Prepare; nothing is opened yet."""
        self._database = RunDatabase(home / "runs.db", (*MIGRATIONS, SCHEDULES, PLACES))
        self._folder = home / "runs" / "workers"
        self._clock = clock
        self._settings = settings
        self.schedules = EmbeddedSchedules(self._database, clock, self._announce)

    async def start(self, order: RunOrder) -> RunView:
        """Add a run; if one with this ID exists, return that one unchanged. Raises BadRequest, StorageError."""
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
        self._announce()
        return view

    async def signal(self, run_id: str, message: RunMessage) -> RunView:
        """Store an answer, and queue the run that waits for it. Raises BadRequest, StorageError."""

        def store(connection: sqlite3.Connection, run: RunView) -> None:
            if message.call_id not in run.waits_for:
                raise BadRequest(
                    f"Run {run_id!r} does not wait for an answer about {message.call_id!r}.",
                    hint=f"It is {run.state.replace('_', ' ')}.",
                )
            insert_message(connection, run_id, message)
            _queue(connection, run_id, self._clock.now())

        return await self._change(run_id, store)

    async def stop(self, run_id: str) -> RunView:
        """End a run; one that is being driven ends as soon as its worker hears of it. Raises BadRequest."""

        def end(connection: sqlite3.Connection, run: RunView) -> None:
            if run.state in ENDED:
                raise BadRequest(f"Run {run_id!r} has ended already: it is {run.state}.")
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

        def again(connection: sqlite3.Connection, run: RunView) -> None:
            if run.state not in repeatable:
                raise BadRequest(
                    f"Run {run_id!r} is {run.state.replace('_', ' ')}.",
                    hint="Only a failed or parked run can be retried.",
                )
            _queue(connection, run_id, self._clock.now())

        return await self._change(run_id, again)

    async def show(self, run_id: str) -> RunView | None:
        """Return a run, or None if there is none with this ID."""
        return await self._database.read(lambda connection: select_run(connection, run_id))

    async def list(self, which: RunFilter) -> Sequence[RunView]:
        """List runs, newest first."""
        return await self._database.read(lambda connection: select_runs(connection, which))

    async def changes(self, after: int, limit: int = 1000) -> Sequence[RunChange]:
        """List changes after a cursor, oldest first."""
        return await self._database.read(lambda connection: select_changes(connection, after, limit))

    @asynccontextmanager
    async def watch(self, after: int | None = None) -> AsyncGenerator[AsyncGenerator[RunChange]]:
        """Follow changes after a cursor, or from now on."""
        cursor = await self._database.read(last_cursor) if after is None else after
        presence = WorkerPresence(self._folder / "watchers", f"watch_{os.urandom(8).hex()}")
        await run_sync(presence.open)
        probe = ChangeProbe(self._database.path)
        try:
            yield self._follow(cursor, presence, probe)
        finally:
            probe.close()
            with anyio.CancelScope(shield=True):
                await run_sync(presence.close)

    async def _follow(
        self, cursor: int, presence: WorkerPresence, probe: ChangeProbe
    ) -> AsyncGenerator[RunChange]:
        while True:
            for change in await self.changes(cursor):
                cursor = change.cursor
                yield change
            while not probe.has_changed():
                with anyio.move_on_after(self._settings.poll_s):
                    if presence.socket:
                        await anyio.wait_readable(presence.socket)
                    else:
                        await anyio.sleep(self._settings.poll_s)
                presence.drain()

    async def prune(self, before: float) -> int:
        """Forget runs that ended before a time, and what became of due times before it; return how many runs."""
        return await self._database.write(lambda connection: prune(connection, before))

    async def has_worker(self, place: str = "") -> bool:
        """Return whether a process is there that drives the runs of a place."""

        def look(there: set[str]) -> bool:
            return any(
                presence_of(self._folder, worker_id) == "alive"
                for worker_id in workers_in(self._folder)
                if worker_id in there and not worker_id.startswith(FOREGROUND)
            )

        return await run_sync(look, await self._database.read(partial(workers_at, place)))

    async def work(self, driver: Driver, scope: WorkScope) -> None:
        """Drive runs as they become due, until it is cancelled or has drained."""
        kind = FOREGROUND if scope.only else "worker"
        presence = WorkerPresence(self._folder, f"{kind}_{os.urandom(8).hex()}")
        announce = partial(self._announce, presence.id)
        await RunWorker(self._database, presence, self._settings, self._clock, announce).run(driver, scope)

    async def aclose(self) -> None:
        """Close the file."""
        await self._database.aclose()

    async def _change(self, run_id: str, change: Callable[[sqlite3.Connection, RunView], None]) -> RunView:
        """Change an existing run and return it as it is then. Raises BadRequest, StorageError."""

        def work(connection: sqlite3.Connection) -> RunView:
            change(connection, _known(connection, run_id))
            return _known(connection, run_id)

        view = await self._database.write(work)
        self._announce()
        return view

    def _announce(self, besides: str = "") -> None:
        """Wake the workers and watchers of all processes; a few calls that never block."""
        wake_workers(self._folder, besides)
        wake_workers(self._folder / "watchers")


def _known(connection: sqlite3.Connection, run_id: str) -> RunView:
    run = select_run(connection, run_id)
    if run is None:
        raise BadRequest(f"There is no run {run_id!r}.", hint="List the runs: hermes-acp runs list.")
    return run


def _queue(connection: sqlite3.Connection, run_id: str, now: float) -> None:
    """Queue a run that rests; it starts afresh as to crashes."""
    connection.execute(
        """UPDATE runs SET state = 'queued', waits_for = '[]', sentence = '', failure = '', crashes = 0, busy = 0,
           not_before = 0, updated_at = ? WHERE id = ?""",
        (now, run_id),
    )
    note_change(connection, run_id, "queued", now)
