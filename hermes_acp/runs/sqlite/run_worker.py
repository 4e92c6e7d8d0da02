"""A worker of the embedded engine: claims runs that are due, has them driven, and keeps their claims alive.

Claims are renewed by a task of the process, never by the work itself. A claim is taken from another worker only if its
process is gone, or if it was seen not to renew the claim for a whole lease, measured here: no clock that jumps, and no
clock of another process, can lose a claim.
"""

from collections.abc import Callable
from functools import partial

import anyio
import msgspec
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.run_ports import Driver, WorkScope
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.sqlite.run_database import ChangeProbe, RunDatabase
from hermes_acp.runs.sqlite.worker_presence import (
    WorkerPresence,
    boot_id,
    presence_of,
    remove_traces,
)
from hermes_acp.runs.tables.leased_drive import LeasedDrive
from hermes_acp.runs.tables.run_claims import (
    HeldRun,
    claim_next,
    next_due,
    requeue,
    survey_claims,
    take_over,
)
from hermes_acp.runs.tables.run_tables import select_run
from hermes_acp.runs.tables.schedule_tables import next_schedule, start_due
from hermes_acp.runs.tables.table_connection import TableConnection


def _next_time(connection: TableConnection, now: float) -> float | None:
    """Return when a run or a schedule is due next."""
    times = (next_due(connection, now), next_schedule(connection))
    return min((each for each in times if each is not None), default=None)


class _Sighting(Struct, frozen=True):
    """When a claim of another worker was first seen with its present number of renewals."""

    beat: int
    at_s: float


class RunWorker:
    """Drives the runs of one process."""

    def __init__(
        self,
        database: RunDatabase,
        presence: WorkerPresence,
        settings: EngineSettings,
        clock: Clock,
        announce: Callable[[], None],
    ) -> None:
        """Prepare; `announce` tells watchers and other workers that a run has changed."""
        self._database = database
        self._presence = presence
        self._settings = settings
        self._clock = clock
        self._announce = announce
        self._drives: dict[tuple[str, int], LeasedDrive] = {}
        self._sightings: dict[tuple[str, int], _Sighting] = {}
        self._woken = anyio.Event()
        self._next_due: float | None = None
        self._has_foreign = False

    async def run(self, driver: Driver, scope: WorkScope) -> None:
        """Drive runs until it is cancelled or, with only one, until that run rests."""
        await run_sync(self._presence.open)
        probe: ChangeProbe | None = None
        try:
            await self._database.write(partial(self._register, scope.places))
            probe = ChangeProbe(self._database.path)
            async with background_tasks(self._listen), anyio.create_task_group() as drives:
                while not await self._is_over(scope):
                    await self._pass(driver, scope, drives)
                    await self._sleep(probe)
        finally:
            if probe:
                probe.close()
            with anyio.CancelScope(shield=True):
                await run_sync(self._presence.close)

    def wake(self) -> None:
        """Look for work now."""
        self._woken.set()

    def _register(self, places: tuple[str, ...], connection: TableConnection) -> None:
        connection.execute(
            "INSERT OR REPLACE INTO workers (id, boot, since, places) VALUES (?, ?, ?, ?)",
            (self._presence.id, boot_id(), self._clock.now(), msgspec.json.encode(places).decode()),
        )

    async def _is_over(self, scope: WorkScope) -> bool:
        """Return whether the one run that is wanted rests, or all runs of a draining worker do."""
        if scope.is_draining():
            return not self._drives
        if not scope.only:
            return False
        run_id = scope.only
        run = await self._database.read(lambda connection: select_run(connection, run_id))
        return run is None or run.state not in ("queued", "running")

    async def _listen(self) -> None:
        """Wake up when called."""
        while self._presence.socket:
            await anyio.wait_readable(self._presence.socket)
            self._presence.drain()
            self._woken.set()
        await anyio.sleep_forever()

    async def _sleep(self, probe: ChangeProbe) -> None:
        """Wait until there may be something to do."""
        while not self._woken.is_set():
            with anyio.move_on_after(self._settings.poll_s):
                await self._woken.wait()
            is_due = self._next_due is not None and self._next_due <= self._clock.now()
            if probe.has_changed() or is_due or self._has_foreign:
                break
        self._woken = anyio.Event()

    async def _pass(self, driver: Driver, scope: WorkScope, drives: anyio.abc.TaskGroup) -> None:
        """Look after all claims, then claim what is due; what cannot be read now is tried again."""
        try:
            await self._look_after_claims()
            if not (scope.only or scope.is_draining()):
                await self._start_due()
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
            now = self._clock.now()
            self._next_due = await self._database.read(lambda connection: _next_time(connection, now))
        except StorageError:
            self._next_due = 0.0

    async def _start_due(self) -> None:
        """Start the runs of schedules that are due."""
        now = self._clock.now()
        next_at = await self._database.read(next_schedule)
        if next_at is not None and next_at <= now:
            await self._database.write(lambda connection: start_due(connection, now))
            self._announce()

    async def _look_after_claims(self) -> None:
        """Take over the runs of workers that are gone, give back unknown claims, and stop what is lost or unwanted."""
        survey = await self._database.read(lambda connection: survey_claims(connection, self._presence.id))
        now = self._clock.now()
        for key, drive in self._drives.items():
            if key not in survey.own:
                drive.lose()
            elif survey.own[key]:
                drive.stop()
        for run_id, epoch in survey.own.keys() - self._drives.keys():
            # A commit failed, or only seemed to fail.
            await self._database.write(
                lambda connection, run_id=run_id, epoch=epoch: requeue(
                    connection, run_id, self._presence.id, epoch, now
                )
            )
        self._has_foreign = bool(survey.foreign)
        seen = {(run.id, run.epoch) for run in survey.foreign}
        self._sightings = {key: sighting for key, sighting in self._sightings.items() if key in seen}
        for run in survey.foreign:
            await self._check_foreign(run, survey.boots.get(run.holder, ""))

    async def _check_foreign(self, run: HeldRun, boot: str) -> None:
        """Take a run over if its worker is gone or has stopped renewing it."""
        is_dead = await run_sync(presence_of, self._presence.folder, run.holder) == "dead"
        if not is_dead and not self._has_lapsed(run):
            return
        # The machine's restart is not the run's fault, and neither is a process that was suspended.
        max_crashes = self._settings.max_crashes if is_dead and boot == boot_id() else None
        now = self._clock.now()
        await self._database.write(
            lambda connection: take_over(connection, run, now, max_crashes=max_crashes)
        )
        if is_dead:
            await run_sync(remove_traces, self._presence.folder, run.holder)
        self._announce()

    def _has_lapsed(self, run: HeldRun) -> bool:
        """Return whether a living worker was seen not to renew a claim for a whole lease."""
        now_s, seen = self._clock.monotonic(), self._sightings.get((run.id, run.epoch))
        if seen is None or seen.beat != run.beat:
            self._sightings[run.id, run.epoch] = _Sighting(run.beat, now_s)
            return False
        return now_s - seen.at_s >= self._settings.lease_s

    async def _drive(self, driver: Driver, drive: LeasedDrive) -> None:
        """Drive one run to its rest."""
        try:
            await drive.run(driver)
        finally:
            del self._drives[drive.claim.order.id, drive.claim.epoch]
            self._woken.set()
            self._announce()
