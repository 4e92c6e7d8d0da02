"""A worker of the embedded engine: claims due runs, works on them, and renews their claims.

Claims are renewed by a separate task, never by the work itself.
"""

from collections.abc import Callable
from functools import partial

import anyio
import msgspec
from anyio.to_thread import run_sync

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.run_ports import Driver, WorkScope
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.leases.claim_watch import ClaimWatch, forget_drive
from hermes_acp.runs.leases.leased_drive import LeasedDrive
from hermes_acp.runs.leases.worker_presence import LocalPeers, WorkerPresence, boot_id
from hermes_acp.runs.sqlite.run_database import ChangeProbe, RunDatabase
from hermes_acp.runs.tables.run_claims import claim_next, next_due
from hermes_acp.runs.tables.run_tables import select_run
from hermes_acp.runs.tables.schedule_tables import next_schedule, start_due
from hermes_acp.runs.tables.table_connection import TableConnection


def _next_time(connection: TableConnection, now: float) -> float | None:
    """Return when a run or a schedule is next due."""
    times = (next_due(connection, now), next_schedule(connection))
    return min((each for each in times if each is not None), default=None)


class RunWorker:
    """Works on runs in one process."""

    def __init__(
        self,
        database: RunDatabase,
        presence: WorkerPresence,
        settings: EngineSettings,
        clock: Clock,
        announce: Callable[[], None],
    ) -> None:
        """Store the arguments; nothing is started.

        `announce` notifies watchers and other workers that a run has changed.
        """
        self._database = database
        self._presence = presence
        self._settings = settings
        self._clock = clock
        self._announce = announce
        self._drives: dict[tuple[str, int], LeasedDrive] = {}
        self._watch = ClaimWatch(presence.id, database, LocalPeers(presence.folder), clock, settings)
        self._woken = anyio.Event()
        self._next_due: float | None = None

    async def run(self, driver: Driver, scope: WorkScope) -> None:
        """Work on runs until cancelled or, for a single run, until it ends or is suspended."""
        await run_sync(self._presence.open)
        probe: ChangeProbe | None = None
        try:
            await self._database.write(partial(self._register, scope.places))
            probe = ChangeProbe(self._database.path)
            async with background_tasks(self._listen), anyio.create_task_group() as drives:
                while not await self._is_over(scope):
                    await self._pass(driver, scope, drives)
                    await self._sleep(probe, scope)
        finally:
            if probe:
                probe.close()
            with anyio.CancelScope(shield=True):
                await run_sync(self._presence.close)

    def wake(self) -> None:
        """Check for work now."""
        self._woken.set()

    def _register(self, places: tuple[str, ...], connection: TableConnection) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO workers (id, boot, since, places) VALUES (?, ?, ?, ?)",
            (self._presence.id, boot_id(), self._clock.now(), msgspec.json.encode(places).decode()),
        )

    async def _is_over(self, scope: WorkScope) -> bool:
        """Return whether the requested run, or every run of a draining worker, has ended or is suspended."""
        if scope.is_draining():
            return not self._drives
        if not scope.only:
            return False
        run_id = scope.only
        run = await self._database.read(lambda connection: select_run(connection, run_id))
        return run is None or run.state not in ("queued", "running")

    async def _listen(self) -> None:
        """Wake up on calls from other processes."""
        while self._presence.socket:
            await anyio.wait_readable(self._presence.socket)
            self._presence.drain()
            self._woken.set()
        await anyio.sleep_forever()

    async def _sleep(self, probe: ChangeProbe, scope: WorkScope) -> None:
        """Wait until there may be something to do, or until everything is done."""
        while not self._woken.is_set():
            with anyio.move_on_after(self._poll_interval_s()):
                await self._woken.wait()
            is_due = self._next_due is not None and self._next_due <= self._clock.now()
            has_drained = scope.is_draining() and not self._drives
            if probe.has_changed() or is_due or self._watch.has_foreign or has_drained:
                break
        self._woken = anyio.Event()

    def _poll_interval_s(self) -> float:
        """Return the maximum time to sleep: until the next run is due, and longer while no run is in progress."""
        settings = self._settings
        is_idle = self._presence.socket and not (self._drives or self._watch.has_foreign)
        longest_s = settings.idle_poll_s if is_idle else settings.poll_s
        if self._next_due is None:
            return longest_s
        left_s = self._next_due - self._clock.now()
        return min(left_s if left_s > 0 else settings.poll_s, longest_s)

    async def _pass(self, driver: Driver, scope: WorkScope, drives: anyio.abc.TaskGroup) -> None:
        """Check all claims, then claim due runs, retrying failed reads."""
        try:
            if await self._watch.look(self._drives):
                self._announce()
            if not (scope.only or scope.is_draining()):
                await self._start_due()
            looked_at = self._clock.now()
            while len(self._drives) < scope.seats and not scope.is_draining():
                now = self._clock.now()
                claim = await self._database.write(
                    lambda connection, now=now: claim_next(connection, self._presence.id, now, scope)
                )
                if claim is None:
                    break
                drive = LeasedDrive(claim, self._database, self._clock, self._settings)
                self._drives[claim.order.id, claim.epoch] = drive
                drives.start_soon(self._drive, driver, drive)
                self._announce()
            self._next_due = await self._database.read(lambda connection: _next_time(connection, looked_at))
        except StorageError:
            self._next_due = 0.0

    async def _start_due(self) -> None:
        """Start the runs of schedules that are due."""
        now = self._clock.now()
        next_at = await self._database.read(next_schedule)
        if next_at is not None and next_at <= now:
            await self._database.write(lambda connection: start_due(connection, now))
            self._announce()

    async def _drive(self, driver: Driver, drive: LeasedDrive) -> None:
        """Work on one run until it ends or is suspended."""
        try:
            await drive.run(driver)
        finally:
            forget_drive(self._drives, drive)
            self._woken.set()
            self._announce()
