"""Record, then show: the only path of every event.

Secrets are masked; then the event goes to the durable journal, the record and every audience.
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
        """Masks known key formats; later replaced by one that also knows the program's own keys."""
        self._journal = journal
        self._audiences: tuple[Audience, ...] = ()

    def emit(self, event: AnyEvent) -> AnyEvent:
        """Record an event with secrets masked, then show it; return it as recorded.

        Raises StorageError, and then shows nothing.
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
        """Show an event that the record already contains, because another process added it."""
        self.record.apply(event)
        self.show(event)

    def clean(self, text: str) -> str:
        """Return text with secrets masked: those that the program knows, and what looks like one."""
        return self.redactor.clean(text)

    async def settle(self) -> None:
        """Make everything emitted so far survive a crash of the machine (fsync)."""
        await self._journal.settle()

    async def drained(self) -> None:
        """Wait while an audience is too far behind."""
        for audience in self._audiences:
            await audience.drained()

    def admit(self, audience: Audience) -> None:
        """Add an audience."""
        if audience not in self._audiences:
            self._audiences = (*self._audiences, audience)

    def is_watched_by(self, audience: Audience) -> bool:
        """Return whether an audience, or an equal one, is present."""
        return audience in self._audiences

    def dismiss(self, audience: Audience) -> None:
        """Remove an audience, or the one equal to it."""
        self._audiences = tuple(other for other in self._audiences if other != audience)
