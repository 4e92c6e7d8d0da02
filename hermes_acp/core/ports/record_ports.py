"""The durable record of a session, and its audiences."""

from typing import Protocol

from hermes_acp.core.events import AnyEvent, Event


class Journal(Protocol):
    """The durable record of one session."""

    def append(self, event: AnyEvent) -> AnyEvent:
        """Write an event and return it as written; it then survives this process. Raises StorageError."""
        ...

    async def settle(self) -> None:
        """Make all appended events survive a crash of the machine (fsync)."""
        ...


class Audience(Protocol):
    """An observer of a session; it is shown only events that are already recorded."""

    def show(self, event: Event) -> None:
        """Show one event; never blocks."""
        ...

    async def drained(self) -> None:
        """Wait while this audience is too far behind."""
        ...
