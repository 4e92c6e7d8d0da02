"""Sessions of a home folder that several machines share. Each machine has a copy of each record."""

from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from hermes_acp.core.errors import Busy, ConfigError, HeldElsewhere, StorageError
from hermes_acp.storage.session_rows import SessionRow, row_of
from hermes_acp.storage.transcript import Transcript

if TYPE_CHECKING:
    from hermes_acp.core.events import Event
    from hermes_acp.core.ports.record_ports import SharedRecords


class LocalSessions(Protocol):
    """The records of this machine, and the list of their sessions."""

    def path_of(self, session_id: str) -> Path:
        """Return the path of a record. Raises SessionNotFound for an invalid ID."""
        ...

    async def put(self, *rows: SessionRow) -> None:
        """Add sessions to the list, or replace them there."""
        ...

    async def delete(self, session_id: str) -> None:
        """Remove a session. Raises Busy or StorageError."""
        ...


class SharedSessions:
    """The records that a store shares with other machines, if any."""

    def __init__(
        self, store: LocalSessions, open_records: "Callable[[], SharedRecords | None] | None"
    ) -> None:
        """Open nothing yet. `open_records` returns the shared records, if any, and blocks."""
        self._store = store
        self._open_records = open_records
        self._trouble = ""

    @cached_property
    def records(self) -> "SharedRecords | None":
        """The shared records, or None if they cannot be shared, which `news` reports. Blocks on first use."""
        try:
            return self._open_records() if self._open_records else None
        except ConfigError as error:
            self._trouble = error.sentence()
            return None

    async def keep(self) -> None:
        """Send additions to shared records, as a background task."""
        if records := await self._ready():
            await records.run()

    async def fetch(self, session_id: str) -> Path:
        """Update the local copy of a record and return its path.

        The file does not exist if the session is unknown. Raises SessionNotFound for an invalid ID, and StorageError if
        this machine has no copy.
        """
        path = self._store.path_of(session_id)
        if records := await self._ready():
            try:
                await records.fetch(session_id)
            except StorageError:
                if not path.is_file():
                    raise
        return path

    async def fetch_changed(self) -> None:
        """Update all local copies and the list of sessions. If that fails, `news` reports the reason."""
        from anyio import to_thread

        records = await self._ready()
        if records is None:
            return
        try:
            changes = await records.fetch_changed()
        except StorageError as error:
            self._trouble = error.sentence()
            return
        for session_id in changes.deleted:
            with suppress(Busy):
                await self._store.delete(session_id)
        for session_id in changes.updated:
            if row := await to_thread.run_sync(row_of, self._store.path_of(session_id)):
                await self._store.put(row)

    def share(self, transcript: Transcript) -> None:
        """Share a record that was just created."""
        if records := self.records:
            transcript.hold = records.begin(transcript.path.stem, transcript.path)

    def reopen(self, session_id: str, *, may_follow: bool = False) -> "tuple[Transcript, list[Event], int]":
        """Open an existing record, like `Transcript.reopen`. Blocks: call it in a worker thread.

        With `may_follow`, a record that another machine holds is opened read-only and followed. Raises SessionNotFound,
        Busy, StorageError, DescriptorLimitError.
        """
        path, records = self._store.path_of(session_id), self.records
        if records is None:
            return Transcript.reopen(path)

        def hold(transcript: Transcript) -> None:
            """Take the record over for this machine; while that fails, the record can only be read."""
            try:
                transcript.hold = records.hold(session_id, path)
            except StorageError as trouble:
                transcript.seal(trouble)
            except HeldElsewhere as held:
                if not may_follow:
                    raise
                message = f"{held.message} It can be followed here, but not continued."
                transcript.seal(StorageError(message, hint=held.hint))
                transcript.is_followed = True

        return Transcript.reopen(path, hold)

    async def delete(self, session_id: str) -> None:
        """Delete a session's record and those of its children on all other machines. Raises StorageError."""
        if records := await self._ready():
            await records.delete(session_id)

    def news(self) -> list[str]:
        """Return the reason why shared records could not be updated, only once."""
        trouble, self._trouble = self._trouble, ""
        return [trouble] if trouble else []

    async def aclose(self) -> None:
        """Send the remaining additions and close the connections."""
        if "records" in vars(self) and (records := self.records):
            await records.aclose()

    async def _ready(self) -> "SharedRecords | None":
        from anyio import to_thread

        if self._open_records is None or "records" in vars(self):
            return self.records
        return await to_thread.run_sync(lambda: self.records)
