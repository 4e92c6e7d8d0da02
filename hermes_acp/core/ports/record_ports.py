"""The durable record of a session, and whoever watches it."""

from typing import Protocol

from hermes_acp.core.events import AnyEvent, Event


class Journal(Protocol):
    """The durable record of one session."""

    def append(self, event: AnyEvent) -> AnyEvent:
        """Write one event and give it as it was written; it then outlives this process. Raises StorageError."""
        ...

    async def settle(self) -> None:
        """Make what was appended outlive the machine too (fsync)."""
        ...


class Audience(Protocol):
    """Whoever watches a session; shown only what is already recorded."""

    def show(self, event: Event) -> None:
        """Take one event; never blocks."""
        ...

    async def drained(self) -> None:
        """Wait while this watcher is too far behind."""
        ...
