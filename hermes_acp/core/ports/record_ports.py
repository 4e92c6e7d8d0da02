"""Ports for the durable record of a session and for those who observe it."""

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
        """Flush all appended events to disk, so that they survive a crash of the machine (fsync)."""
        ...


class Audience(Protocol):
    """A subscriber to a session's events; it is shown only events that have already been recorded."""

    def show(self, event: Event) -> None:
        """Show one event; must not block."""
        ...

    async def drained(self) -> None:
        """Wait while this subscriber is too far behind."""
        ...


class RecordHold(Protocol):
    """The claim of this process to a record."""

    @property
    def trouble(self) -> RecordTakenOver | None:
        """The error to raise if another machine now holds the record, else None."""
        ...

    def note_appended(self) -> None:
        """Report that the local copy has grown, so that the additions are sent soon."""
        ...

    async def sent(self) -> None:
        """Wait until everything in the local copy is durable for other machines.

        Raises StorageError, or its subclass `RecordTakenOver` if another machine now holds the record.
        """
        ...

    def close(self) -> None:
        """Send unsent additions, then release the record, in the background."""
        ...


class ChangedRecords(Struct, frozen=True):
    """The IDs of sessions whose local copies were updated, and of those that were deleted on other machines."""

    updated: Sequence[str] = ()
    deleted: Sequence[str] = ()


class SharedRecords(Protocol):
    """The records of a profile, shared by all its machines."""

    def begin(self, session_id: str, path: Path) -> RecordHold:
        """Claim a record that was just created on this machine; others learn of it when it is first sent."""
        ...

    def hold(self, session_id: str, path: Path) -> RecordHold:
        """Claim a record whose local copy is locked, and update that copy. Blocks: call it in a worker thread.

        Raises `HeldElsewhere` while a process on another machine holds it, or StorageError.
        """
        ...

    async def fetch(self, session_id: str) -> None:
        """Update the local copies of a record and of its children, unless this machine holds the record.

        Raises StorageError.
        """
        ...

    async def fetch_changed(self) -> ChangedRecords:
        """Update all local copies, and return what has changed. Raises StorageError."""
        ...

    async def delete(self, session_id: str) -> None:
        """Delete a record and those of its children on all machines. Raises StorageError."""
        ...

    def follow(self, session_id: str, path: Path) -> AsyncGenerator[tuple[Event, ...]]:
        """Append whatever the holder appends to a locked local copy, and yield it, until the record is released.

        Raises StorageError.
        """
        ...

    async def run(self) -> None:
        """Send additions and renew claims until cancelled."""
        ...

    async def aclose(self) -> None:
        """Send unsent additions, release all records and close the connections."""
        ...
