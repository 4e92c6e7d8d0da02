"""The workers on one machine, which wake each other over sockets and detect each other by locks."""

import os
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.core.ports.run_ports import Driver, WorkScope
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.leases.worker_presence import WorkerPresence, presence_of, wake_workers, workers_in
from hermes_acp.runs.sqlite.run_database import ChangeProbe, RunDatabase
from hermes_acp.runs.sqlite.run_worker import RunWorker
from hermes_acp.runs.tables.table_connection import TableConnection

FOREGROUND: Final = "only"
"""The ID prefix of workers that work on a single run only."""


class LocalWorkforce:
    """The workers of one home folder; implements `Workforce`."""

    def __init__(self, database: RunDatabase, home: Path, clock: Clock, settings: EngineSettings) -> None:
        """Prepare without opening anything."""
        self._database = database
        self._folder = home / "runs" / "workers"
        self._clock = clock
        self._settings = settings

    async def announce(self) -> None:
        """Wake the workers and watchers in all processes, with a few calls that never block."""
        self._wake()

    @asynccontextmanager
    async def watching(self) -> AsyncGenerator["LocalChanges"]:
        """Wait for changes while the block runs. Raises StorageError."""
        presence = WorkerPresence(self._folder / "watchers", f"watch_{os.urandom(8).hex()}")
        await run_sync(presence.open)
        probe = ChangeProbe(self._database.path)
        try:
            yield LocalChanges(presence, probe, self._settings)
        finally:
            probe.close()
            with anyio.CancelScope(shield=True):
                await run_sync(presence.close)

    async def has_worker(self, place: str) -> bool:
        """Return whether a running process works on the runs of a place."""

        def look(there: set[str]) -> bool:
            return any(
                presence_of(self._folder, worker_id) == "alive"
                for worker_id in workers_in(self._folder)
                if worker_id in there and not worker_id.startswith(FOREGROUND)
            )

        return await run_sync(look, await self._database.read(partial(_workers_at, place)))

    async def work(self, driver: Driver, scope: WorkScope) -> None:
        """Work on due runs until cancelled or drained."""
        kind = FOREGROUND if scope.only else "worker"
        presence = WorkerPresence(self._folder, f"{kind}_{os.urandom(8).hex()}")
        announce = partial(self._wake, presence.id)
        await RunWorker(self._database, presence, self._settings, self._clock, announce).run(driver, scope)

    async def aclose(self) -> None:
        """Do nothing: there are no resources to release."""

    def _wake(self, besides: str = "") -> None:
        wake_workers(self._folder, besides)
        wake_workers(self._folder / "watchers")


class LocalChanges:
    """Waits for commits to the file."""

    def __init__(self, presence: WorkerPresence, probe: ChangeProbe, settings: EngineSettings) -> None:
        self._presence = presence
        self._probe = probe
        self._settings = settings

    async def wait(self) -> None:
        """Wait until someone has committed since the last call."""
        while not self._probe.has_changed():
            if self._presence.socket:
                with anyio.move_on_after(self._settings.idle_poll_s):
                    await anyio.wait_readable(self._presence.socket)
            else:
                await anyio.sleep(self._settings.poll_s)
            self._presence.drain()


def _workers_at(place: str, connection: TableConnection) -> set[str]:
    """Return the IDs of the workers, alive or not, that were started for a place."""
    rows: Iterable[tuple[str]] = connection.execute(
        "SELECT id FROM workers WHERE EXISTS (SELECT 1 FROM json_each(places) WHERE value = ?)", (place,)
    )
    return {worker_id for (worker_id,) in rows}
