"""The durable record of a session, and its audiences."""

from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from hermes_acp.core.errors import RecordTakenOver
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


class RecordHold(Protocol):
    """A record that this process holds."""

    @property
    def trouble(self) -> RecordTakenOver | None:
        """The error that says that another machine holds the record now."""
        ...

    def note_appended(self) -> None:
        """Note that the local copy has grown; it is sent soon."""
        ...

    async def sent(self) -> None:
        """Wait until everything in the local copy is durable for other machines.

        Raises StorageError; `RecordTakenOver` if another machine holds the record now.
        """
        ...

    def close(self) -> None:
        """Send what is left, and let others hold the record; the work is done in the background."""
        ...


class ChangedRecords(Struct, frozen=True):
    """IDs of sessions whose local copies were brought up to date, and of those that were deleted on other machines."""

    updated: Sequence[str] = ()
    deleted: Sequence[str] = ()


class SharedRecords(Protocol):
    """The records of a profile on all its machines."""

    def begin(self, session_id: str, path: Path) -> RecordHold:
        """Hold a record that was just created on this machine; others learn of it when it is first sent."""
        ...

    def hold(self, session_id: str, path: Path) -> RecordHold:
        """Hold a record whose local copy is locked, after bringing that copy up to date. Blocks, in a worker thread.

        Raises `HeldElsewhere` while a process of another machine holds it, StorageError.
        """
        ...

    async def fetch(self, session_id: str) -> None:
        """Bring the local copy of a record and of its children up to date, unless it is held here.

        Raises StorageError.
        """
        ...

    async def fetch_changed(self) -> ChangedRecords:
        """Bring all local copies up to date, and return what has changed. Raises StorageError."""
        ...

    async def delete(self, session_id: str) -> None:
        """Delete a record and those of its children for all machines. Raises StorageError."""
        ...

    def follow(self, session_id: str, path: Path) -> AsyncGenerator[tuple[Event, ...]]:
        """Add to a locked local copy what the record's holder adds, and yield it, until the record is no longer held.

        Raises StorageError.
        """
        ...

    async def run(self) -> None:
        """Send what is appended, and renew what is held, until it is cancelled."""
        ...

    async def aclose(self) -> None:
        """Send what is left, let go of everything and close the connections."""
        ...
