"""The part of a worker that serves one profile: it claims runs, works on them, and watches all claims and schedules."""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.run_ports import Driver, InputRequired, WorkScope
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.dispatcher import Dispatcher
from hermes_acp.runs.fleet.dispatches import forget_dispatch
from hermes_acp.runs.fleet.fleet_peers import (
    FleetPeers,
    machine_of,
    note_seen,
    register_worker,
    unregister_worker,
    worker_id,
)
from hermes_acp.runs.fleet.postgres_database import PostgresDatabase
from hermes_acp.runs.fleet.run_workflow import DriveEnd
from hermes_acp.runs.fleet.workspaces.folder_copies import FolderCopies
from hermes_acp.runs.fleet.workspaces.moving_driver import MovingDriver
from hermes_acp.runs.fleet.workspaces.workspace_table import is_busy_elsewhere
from hermes_acp.runs.leases.claim_watch import ClaimWatch, DriveKey, forget_drive
from hermes_acp.runs.leases.leased_drive import LeasedDrive
from hermes_acp.runs.leases.worker_presence import WorkerPresence
from hermes_acp.runs.tables.run_claims import Claim, claim_next
from hermes_acp.runs.tables.schedule_tables import start_due
from hermes_acp.runs.tables.table_connection import TableConnection

if TYPE_CHECKING:
    from temporalio.client import Client

POOLED: Final = "worker"
FOREGROUND: Final = "only"
OpenCopies = Callable[[str], FolderCopies]
"""A function that takes the machine's ID; blocks. Raises ConfigError or WorkspaceError."""


class FleetMember:
    """Works on runs of one profile in this process, from `open` to `close`."""

    def __init__(
        self,
        database: PostgresDatabase,
        dispatcher: Dispatcher,
        folder: Path,
        clock: Clock,
        settings: EngineSettings,
        driver: Driver,
        open_copies: "OpenCopies | None" = None,
    ) -> None:
        """Store the arguments without connecting.

        `folder` contains the locks of the profile's workers on this machine. With `open_copies`, folders move between
        machines along with their runs.
        """
        self.access = dispatcher.access
        self._database = database
        self._dispatcher = dispatcher
        self._folder = folder
        self._clock = clock
        self.settings = settings
        self._driver = driver
        self._open_copies = open_copies
        self.machine = ""
        """The machine's ID, set by `open`."""
        self._presence: WorkerPresence | None = None
        self._watch: ClaimWatch | None = None
        self._drives: dict[DriveKey, LeasedDrive] = {}
        self._is_closing = False

    async def open(self, places: tuple[str, ...], *, drives_any: bool = True) -> None:
        """Register as a worker. `drives_any` is False for a worker that works on a single run only.

        Raises StorageError.
        """
        machine = self.machine = await run_sync(machine_of, self._folder)
        if self._open_copies:
            copies = await run_sync(self._open_copies, machine)
            self._driver = MovingDriver(self._driver, self._database, copies, machine, self._clock)
        worker = worker_id(machine, POOLED if drives_any else FOREGROUND)
        self._presence = WorkerPresence(self._folder, worker)
        await run_sync(self._presence.open)
        peers = FleetPeers(self._folder, machine)
        self._watch = ClaimWatch(worker, self._database, peers, self._clock, self.settings)
        now = self._clock.now()
        await self._database.write(
            lambda connection: register_worker(
                connection, worker, machine, places, now, drives_any=drives_any
            )
        )

    async def client(self) -> "Client":
        """Return the connection to Temporal. Raises StorageError."""
        return await self._dispatcher.client()

    async def close(self) -> None:
        """Unregister. Runs in progress must have been released first."""
        if self._presence:
            worker = self._presence.id
            with suppress(StorageError):
                await self._database.write(lambda connection: unregister_worker(connection, worker))
            await run_sync(self._presence.close)

    def release(self) -> None:
        """Start nothing more, and return the runs in progress to the queue."""
        self._is_closing = True
        for drive in self._drives.values():
            drive.stop()

    async def drive_run(self, run_id: str, renewed: Callable[[], None] | None = None) -> DriveEnd:
        """Claim a run if it is due, and work on it until it ends or waits.

        Raises StorageError if it cannot be claimed.
        """
        claim = None if self._is_closing else await self._claim(run_id)
        if claim is None:
            return "held"
        drive = LeasedDrive(claim, self._database, self._clock, self.settings, renewed)
        self._drives[run_id, claim.epoch] = drive
        if self._is_closing:
            drive.stop()
        try:
            outcome = await drive.run(self._driver)
        finally:
            forget_drive(self._drives, drive)
        with suppress(StorageError):
            await self._dispatcher.send()
        return "waits" if isinstance(outcome, InputRequired) else "over"

    async def keep(self) -> None:
        """Watch claims, schedules and due runs until cancelled.

        Whoever stores a run or an answer also dispatches it; only schedules and lost workers have to wait for the next
        poll. Claims are read more often than anything is written, so that lapsed ones are released soon.
        """
        assert self._watch, "it is open"
        noted_at_s = float("-inf")
        while True:
            with suppress(StorageError):  # the servers are unreachable; this continues once they are back
                if await self._watch.look(self._drives):
                    await self._dispatcher.send()
                if self._clock.monotonic() - noted_at_s >= self.settings.heartbeat_s:
                    noted_at_s = self._clock.monotonic()
                    await self._note()
            await anyio.sleep(self.settings.poll_s)

    async def _claim(self, run_id: str) -> Claim | None:
        assert self._presence, "it is open"
        holder, now = self._presence.id, self._clock.now()

        def claim(connection: TableConnection) -> Claim | None:
            forget_dispatch(connection, run_id)
            if self._open_copies and is_busy_elsewhere(connection, run_id, self.machine):
                return None
            return claim_next(connection, holder, now, WorkScope(run_id), max_running=self.access.max_running)

        return await self._database.write(claim)

    async def _note(self) -> None:
        """Record that this worker is alive, start what is due, and dispatch it."""
        assert self._presence, "it is open"
        worker, now = self._presence.id, self._clock.now()

        def note(connection: TableConnection) -> None:
            note_seen(connection, worker)
            start_due(connection, now)

        await self._database.write(note)
        await self._dispatcher.send()
