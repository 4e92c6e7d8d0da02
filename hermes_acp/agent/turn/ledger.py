"""Record events, then show them; every event takes this path.

Secrets are masked first; then the event goes to the durable journal, the record and every subscriber.
"""

from hermes_acp.agent.turn.secret_masking import MASKED, masked
from hermes_acp.core.events import AnyEvent, Event, Noticed, UserSaid
from hermes_acp.core.ports.record_ports import Audience, Journal
from hermes_acp.core.record.session_record import Record
from hermes_acp.telemetry.redaction import Redactor


class Ledger:
    """The events of one live session."""

    def __init__(self, journal: Journal, record: Record) -> None:
        self.record = record
        self.redactor = Redactor(())
        """Masks known key formats; later replaced by a redactor that also knows the keys configured for this program.
        """
        self._journal = journal
        self._audiences: tuple[Audience, ...] = ()

    def emit(self, event: AnyEvent) -> AnyEvent:
        """Mask secrets in an event, record it, then show it; return it as recorded.

        Raises StorageError, in which case nothing is shown.
        """
        clean = masked(event, self.redactor.clean)
        recorded = self._journal.append(clean)
        self.record.apply(recorded)
        self.show(recorded)
        if isinstance(event, UserSaid) and clean is not event:
            self.emit(Noticed("warning", MASKED))
        return recorded

    def show(self, event: Event) -> None:
        """Show an event without recording it, because the record cannot be written or another record contains it."""
        for audience in self._audiences:
            audience.show(event)

    def relay(self, event: Event) -> None:
        """Show an event that another process has already added to the record."""
        self.record.apply(event)
        self.show(event)

    def clean(self, text: str) -> str:
        """Mask secrets in a text: those known to the program, and anything that looks like one."""
        return self.redactor.clean(text)

    async def settle(self) -> None:
        """Flush everything emitted so far to disk, so that it survives a crash of the machine (fsync)."""
        await self._journal.settle()

    async def drained(self) -> None:
        """Wait while any subscriber is too far behind."""
        for audience in self._audiences:
            await audience.drained()

    def admit(self, audience: Audience) -> None:
        """Add a subscriber."""
        if audience not in self._audiences:
            self._audiences = (*self._audiences, audience)

    def is_watched_by(self, audience: Audience) -> bool:
        """Return whether a subscriber, or one equal to it, has been added."""
        return audience in self._audiences

    def dismiss(self, audience: Audience) -> None:
        """Remove a subscriber, or the one equal to it."""
        self._audiences = tuple(other for other in self._audiences if other != audience)
