"""Watch the claims of all workers: take over the runs of dead workers, and end attempts whose claims were lost.

A claim is taken over only if the worker's process is gone, or if the claim was observed not to be renewed for a whole
lease, measured by this process's monotonic clock. So neither clock jumps nor other machines' clocks can cause the loss
of a claim.
"""

from collections.abc import Mapping
from typing import Final, Protocol

from msgspec import Struct

from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.leases.leased_drive import LeasedDrive
from hermes_acp.runs.leases.worker_presence import boot_id
from hermes_acp.runs.tables.run_claims import ClaimedRun, requeue, survey_claims, take_over
from hermes_acp.runs.tables.table_connection import TableDatabase

DriveKey = tuple[str, int]
"""A run's ID and the epoch of its claim."""


def forget_drive(drives: dict[DriveKey, LeasedDrive], drive: LeasedDrive) -> None:
    """Remove an attempt that has ended, but not a later one with the same key.

    A database that has lost a committed claim issues its number again.
    """
    key = (drive.claim.order.id, drive.claim.epoch)
    if drives.get(key) is drive:
        del drives[key]


class Peers(Protocol):
    """The other workers of an engine."""

    async def is_gone(self, holder: str) -> bool:
        """Return whether a worker's process is known to be dead. Raises StorageError."""
        ...

    async def forget(self, holder: str) -> None:
        """Remove the files of a dead worker."""
        ...


class _Observation(Struct, frozen=True):
    """When another worker's claim was first seen with its current number of renewals."""

    beat: int
    at_s: float


class ClaimWatch:
    """One worker's view of all claims."""

    def __init__(
        self, holder: str, database: TableDatabase, peers: Peers, clock: Clock, settings: EngineSettings
    ) -> None:
        """Create the watch; `holder` is the ID of this worker."""
        self._holder: Final = holder
        self._database = database
        self._peers = peers
        self._clock = clock
        self._settings = settings
        self._sightings: dict[DriveKey, _Observation] = {}
        self.has_foreign = False
        """Whether other workers held runs at the last check."""

    async def look(self, drives: Mapping[DriveKey, LeasedDrive]) -> bool:
        """Take over abandoned runs, release unknown claims, and end attempts that are lost or unwanted.

        Returns whether a run returned to the queue. Raises StorageError.
        """
        survey = await self._database.read(lambda connection: survey_claims(connection, self._holder))
        for key, drive in list(drives.items()):
            if key not in survey.own:
                drive.lose()
            elif survey.own[key]:
                drive.stop()
        has_returned = False
        for run_id, epoch in survey.own.keys() - drives.keys():
            await self._release_claim(run_id, epoch)
            has_returned = True
        self.has_foreign = bool(survey.foreign)
        seen = {(run.id, run.epoch) for run in survey.foreign}
        self._sightings = {key: sighting for key, sighting in self._sightings.items() if key in seen}
        for run in survey.foreign:
            has_returned |= await self._check(run, survey.boots.get(run.holder, ""))
        return has_returned

    async def _release_claim(self, run_id: str, epoch: int) -> None:
        """Release a claim that nobody uses, because its commit failed or appeared to fail."""
        now = self._clock.now()
        await self._database.write(lambda connection: requeue(connection, run_id, self._holder, epoch, now))

    async def _check(self, run: ClaimedRun, boot: str) -> bool:
        """Take over a run if its worker is dead or has stopped renewing the claim."""
        is_gone = await self._peers.is_gone(run.holder)
        if not is_gone and not self._has_lapsed(run):
            return False
        # Neither a restart of the machine nor a suspended process is the run's fault.
        max_crashes = self._settings.max_crashes if is_gone and boot == boot_id() else None
        now = self._clock.now()
        is_taken = await self._database.write(
            lambda connection: take_over(connection, run, now, max_crashes=max_crashes)
        )
        if is_gone:
            await self._peers.forget(run.holder)
        return is_taken

    def _has_lapsed(self, run: ClaimedRun) -> bool:
        """Return whether a live worker has not renewed a claim for a whole lease."""
        now_s, seen = self._clock.monotonic(), self._sightings.get((run.id, run.epoch))
        if seen is None or seen.beat != run.beat:
            self._sightings[run.id, run.epoch] = _Observation(run.beat, now_s)
            return False
        return now_s - seen.at_s >= self._settings.lease_s
