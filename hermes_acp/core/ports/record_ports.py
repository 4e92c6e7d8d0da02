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
        """Write an event, which then survives this process, and return it as written. Raises StorageError."""
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
        """Record that the local copy has grown, so that the addition is sent soon."""
        ...

    async def sent(self) -> None:
        """Wait until everything in the local copy is durable for other machines.

        Raises StorageError; `RecordTakenOver` if another machine holds the record now.
        """
        ...

    def close(self) -> None:
        """Send the unsent part, then release the record, in the background."""
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
        """Claim a record whose local copy is locked, and update that copy. Blocks: call it in a worker thread.

        Raises `HeldElsewhere` while a process on another machine holds it, or StorageError.
        """
        ...

    async def fetch(self, session_id: str) -> None:
        """Bring the local copy of a record and of its children up to date, unless it is held here.

        Raises StorageError.
        """
        ...

    async def fetch_changed(self) -> ChangedRecords:
        """Update all local copies, and return what has changed. Raises StorageError."""
        ...

    async def delete(self, session_id: str) -> None:
        """Delete a record and those of its children for all machines. Raises StorageError."""
        ...

    def follow(self, session_id: str, path: Path) -> AsyncGenerator[tuple[Event, ...]]:
        """Append to a locked local copy whatever the record's holder appends, and yield it, until the record is no
        longer held.

        Raises StorageError.
        """
        ...

    async def run(self) -> None:
        """Send additions and renew claims until cancelled."""
        ...

    async def aclose(self) -> None:
        """Send unsent additions, release all records and close the connections."""
        ...
