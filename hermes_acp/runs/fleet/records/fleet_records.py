"""The records that this machine shares with the profile's other machines; implements `SharedRecords`."""

import socket
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, TypeVar

import anyio
from anyio import from_thread
from anyio.to_thread import run_sync

from hermes_acp.core.errors import Busy, HeldElsewhere, StorageError
from hermes_acp.core.events import Event
from hermes_acp.core.ports.record_ports import ChangedRecords
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.postgres_changes import changes_of
from hermes_acp.runs.fleet.postgres_database import PostgresDatabase
from hermes_acp.runs.fleet.records.local_copy import LocalCopy, update_unlocked
from hermes_acp.runs.fleet.records.record_hold import FleetHold
from hermes_acp.runs.fleet.records.record_sender import RecordSender
from hermes_acp.runs.fleet.records.record_tables import (
    Claim,
    Holder,
    delete_records,
    is_held,
    read_record,
    records_below,
    records_since,
    release_record,
    size_of_record,
)
from hermes_acp.runs.fleet.records.seen_changes import SeenChanges
from hermes_acp.runs.tables.table_connection import TableConnection
from hermes_acp.storage.record_lines import decode_lines

T = TypeVar("T")
MAX_WAIT_S: Final = 20.0
"""How many seconds a session waits for the fleet's database before its turn ends."""
CLAIM_POLL_INTERVAL_S: Final = 0.5
FETCH_INTERVAL_S: Final = 2.0


class FleetRecords:
    """The shared records of one home folder."""

    def __init__(
        self,
        database: PostgresDatabase,
        folder: Path,
        path_of: Callable[[str], Path],
        settings: EngineSettings,
        max_wait_s: float = MAX_WAIT_S,
    ) -> None:
        """Store the arguments without connecting.

        `folder` contains the records, and `path_of` returns the path of one.
        """
        self.sender = RecordSender(database, folder, socket.gethostname(), settings)
        self._database = database
        self._path_of = path_of
        self._settings = settings
        self._patience_s = max_wait_s
        self._seen = SeenChanges(folder)
        self._fetched_at = float("-inf")

    def begin(self, session_id: str, path: Path) -> FleetHold:
        """Claim a record that was just created on this machine."""
        return self._hold(session_id, path, None)

    def hold(self, session_id: str, path: Path) -> FleetHold:
        """Claim a locked record and update its local copy. Blocks: call it in a worker thread.

        Raises HeldElsewhere or StorageError.
        """
        claim = self._claim(session_id)
        try:
            sent = LocalCopy(path).update(claim.size_bytes, partial(self._read_shared, session_id))
        except BaseException:
            release = partial(release_record, session_id=session_id, epoch=claim.epoch)
            with suppress(StorageError):
                from_thread.run(self._database.write, release)
            raise
        return self._hold(session_id, path, Claim(claim.epoch, sent))

    async def fetch(self, session_id: str) -> None:
        """Update the local copies of a record and its children. Raises StorageError."""
        for each in await self._database.read(partial(records_below, session_id=session_id)):
            await self._fetch(each)

    async def fetch_changed(self) -> ChangedRecords:
        """Update all local copies, and return what has changed. Raises StorageError."""
        if time.monotonic() - self._fetched_at < FETCH_INTERVAL_S:
            return ChangedRecords()
        since = await run_sync(self._seen.read)
        updated: list[str] = []
        deleted: list[str] = []
        rows = await self._database.read(partial(records_since, changed_at=since))
        for row in rows:
            copy = LocalCopy(self._path_of(row.session_id))
            before = copy.size_bytes
            if row.is_deleted and before:
                deleted.append(row.session_id)
            elif not row.is_deleted and before != row.size_bytes:
                await self._fetch(row.session_id)
                if copy.size_bytes != before:
                    updated.append(row.session_id)
        if rows:
            await run_sync(self._seen.write, rows[-1].changed_at)
        self._fetched_at = time.monotonic()
        return ChangedRecords([each for each in updated if "." not in each], deleted)

    async def delete(self, session_id: str) -> None:
        """Delete a record and those of its children on all machines. Raises StorageError."""

        def delete(connection: TableConnection) -> None:
            delete_records(connection, records_below(connection, session_id))

        await self._database.write(delete)

    async def follow(self, session_id: str, path: Path) -> AsyncGenerator[tuple[Event, ...]]:
        """Append whatever the record's holder appends to a locked local copy, and yield it. Raises StorageError."""
        copy = LocalCopy(path)
        channel = await self._database.read(_channel)
        async with changes_of(self._database, self._settings.poll_s, channel, session_id) as changes:
            is_over = False
            while not is_over:
                is_over = not await self._database.read(
                    partial(is_held, session_id=session_id, lease_s=self._settings.lease_s)
                )
                content = await self._database.read(
                    partial(read_record, session_id=session_id, start=copy.size_bytes)
                )
                if content:
                    await run_sync(copy.append, content)
                    yield tuple(event for event, _ in decode_lines(content, None))
                if not is_over:
                    await changes.wait()

    async def run(self) -> None:
        """Send additions and renew claims until cancelled."""
        await self.sender.run()

    async def aclose(self) -> None:
        """Send unsent additions, release all records and close the connections."""
        with anyio.move_on_after(self._patience_s, shield=True):
            with suppress(StorageError):
                await self.sender.finish()
            await self._database.aclose()

    def _claim(self, session_id: str) -> Claim:
        """Claim a record, waiting until another holder proves to be alive or its lease expires.

        Blocks. Raises HeldElsewhere or StorageError.
        """
        first: Holder | None = None
        while True:
            found = from_thread.run(self._database.write, self.sender.claiming(session_id))
            if isinstance(found, Claim):
                return found
            if first and (first.id, first.beat) != (found.id, found.beat):
                raise HeldElsewhere(
                    f"Session {session_id!r} is open on another machine, {found.machine}.",
                    hint="Close it there first.",
                )
            first = first or found
            time.sleep(CLAIM_POLL_INTERVAL_S)

    def _hold(self, session_id: str, path: Path, claim: Claim | None) -> FleetHold:
        hold = FleetHold(session_id, path, self.sender, self._patience_s, claim)
        self.sender.holds[session_id] = hold
        return hold

    async def _fetch(self, session_id: str) -> None:
        """Update the local copy of a record, unless a process on this machine has it open."""
        if session_id in self.sender.holds:
            return
        shared_bytes = await self._database.read(partial(size_of_record, session_id=session_id))
        if shared_bytes:
            read = partial(self._read_shared, session_id)
            with suppress(Busy):
                await run_sync(update_unlocked, self._path_of(session_id), shared_bytes, read)

    def _read_shared(self, session_id: str, start: int) -> bytes:
        """Return a shared record's bytes from an offset to the end. Blocks. Raises StorageError."""
        return from_thread.run(self._database.read, partial(read_record, session_id=session_id, start=start))


def _channel(connection: TableConnection) -> str:
    """Return the name of the channel that announces changed records."""
    return connection.execute("SELECT 'hermes_records_' || md5(current_schema())").fetchone()[0]
