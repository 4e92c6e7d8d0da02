"""Work on a claimed run until it ends or is suspended, keep its claim renewed, and store the outcome.

The claim is renewed by a separate task, never by the work itself. Work that loses its claim, must stop, or makes no
progress is ended.
"""

from collections.abc import Callable, Sequence
from typing import Final

import anyio

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.run_ports import DriveOutcome, Driver, Failed, Fenced, RunMessage
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.tables.run_claims import Claim, Renewal, is_held, release, renew, settle
from hermes_acp.runs.tables.table_connection import TableConnection, TableDatabase

SETTLE_ATTEMPTS: Final = 5
SETTLE_WAIT_S: Final = 0.2
STALLED_SENTENCE: Final = "It made no progress for {seconds:g} s."


class LeasedDrive:
    """One attempt at a run under a claim; implements `Lease`."""

    def __init__(
        self,
        claim: Claim,
        database: TableDatabase,
        clock: Clock,
        settings: EngineSettings,
        renewed: Callable[[], None] | None = None,
    ) -> None:
        """Store the arguments; nothing is started. `renewed` is called after each renewal of the claim."""
        self.claim = claim
        self._database = database
        self._clock = clock
        self._settings = settings
        self._renewed = renewed
        self._scope = anyio.CancelScope()
        self._progress_at = clock.now()
        self._progress_at_s = clock.monotonic()
        self._renewed_at_s = clock.monotonic()
        self._is_lost = False
        self._is_stalled = False

    @property
    def epoch(self) -> int:
        """The number of this claim."""
        return self.claim.epoch

    @property
    def messages(self) -> Sequence[RunMessage]:
        """The answers that the run has received so far."""
        return self.claim.messages

    def note_progress(self) -> None:
        """Record that the work has advanced."""
        self._progress_at, self._progress_at_s = self._clock.now(), self._clock.monotonic()

    async def confirm(self) -> bool:
        """Return whether the claim is still valid."""
        return await self._database.read(lambda connection: is_held(connection, self.claim))

    def stop(self) -> None:
        """End the work, because its run must stop."""
        self._scope.cancel()

    def lose(self) -> None:
        """End the work and store nothing more, because another worker has the run."""
        self._is_lost = True
        self._scope.cancel()

    async def run(self, driver: Driver) -> DriveOutcome | None:
        """Work on the run until it ends or is suspended, then store and return the outcome.

        A shutdown returns the run to the queue.
        """
        outcome: DriveOutcome | None = None
        try:
            with self._scope:
                async with background_tasks(self._keep):
                    outcome = await driver.drive(self.claim.order, self)
            if outcome is None and self._is_stalled:
                outcome = Failed("stalled", STALLED_SENTENCE.format(seconds=self._settings.stall_s))
        finally:
            with anyio.CancelScope(shield=True):
                if not (self._is_lost or isinstance(outcome, Fenced)):
                    await self._settle(outcome)
        return outcome

    async def _settle(self, outcome: DriveOutcome | None) -> None:
        """Store an outcome; after an interruption, there is none.

        If it cannot be stored, the run is worked on again.
        """

        def store(connection: TableConnection) -> None:
            now = self._clock.now()
            if outcome is None:
                release(connection, self.claim, now)
            else:
                settle(connection, self.claim, outcome, now, max_crashes=self._settings.max_crashes)

        for attempt in range(SETTLE_ATTEMPTS):
            try:
                await self._database.write(store)
                return
            except StorageError:
                await anyio.sleep(SETTLE_WAIT_S * 2**attempt)

    async def _keep(self) -> None:
        """Renew the claim until the work ends.

        Ends the work if the claim is lost, the work stalls, or the run must stop.
        """
        settings = self._settings
        while not self._scope.cancel_called:
            await anyio.sleep(settings.heartbeat_s)
            now_s = self._clock.monotonic()
            if now_s - self._progress_at_s >= settings.stall_s:
                self._is_stalled = True
                self._scope.cancel()
                return
            await self._renew()

    async def _renew(self) -> None:
        """Renew the claim; if it is lost or the run must stop, end the work."""
        try:
            renewal = await self._database.write(
                lambda connection: renew(connection, self.claim, self._progress_at)
            )
        except StorageError:
            is_over = self._clock.monotonic() - self._renewed_at_s >= self._settings.lease_s
            renewal = Renewal(is_held=not is_over)
        else:
            self._renewed_at_s = self._clock.monotonic()
            if self._renewed:
                self._renewed()
        if not renewal.is_held:
            self.lose()
        elif renewal.must_stop:
            self.stop()
