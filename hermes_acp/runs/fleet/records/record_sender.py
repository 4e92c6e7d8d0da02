"""Send additions to the records that a process holds, and signal that the process is alive.

Concurrent additions from several sessions are sent in a single transaction.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import get_ident
from typing import Final

import anyio

from hermes_acp.core.errors import StorageError
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.fleet_peers import machine_of
from hermes_acp.runs.fleet.postgres_database import PostgresDatabase
from hermes_acp.runs.fleet.records.record_hold import RETRY_S, FleetHold
from hermes_acp.runs.fleet.records.record_tables import (
    Claim,
    Holder,
    add_to_record,
    claim_record,
    forget_holders,
    note_holder,
    release_record,
)
from hermes_acp.runs.tables.table_connection import TableConnection

SEND_INTERVAL_S: Final = 0.05
"""The minimum interval in seconds between two sends for which nobody waits."""


class _Attempt:
    """An attempt to send, for which others wait."""

    def __init__(self) -> None:
        self.is_over = anyio.Event()
        self.trouble: StorageError | None = None


class RecordSender:
    """The records held by one process; implements `Sender`."""

    def __init__(
        self, database: PostgresDatabase, folder: Path, machine: str, settings: EngineSettings
    ) -> None:
        """Store the arguments; nothing is sent yet.

        `folder` contains this machine's records; `machine` is its name for people.
        """
        self.holds: dict[str, FleetHold] = {}
        self._database = database
        self._folder = folder
        self._machine = machine
        self._settings = settings
        self._own_ids = ""
        self._id = ""
        self._leaving: list[FleetHold] = []
        self._sending = anyio.Lock()
        self._has_news = anyio.Event()
        self._is_awaited = anyio.Event()
        self._next = _Attempt()
        self._loop_thread = 0

    def claiming(self, session_id: str) -> Callable[[TableConnection], Claim | Holder]:
        """Return a transaction that claims a record for this process or returns its holder. Blocks."""
        if not self._id:
            self._own_ids = machine_of(self._folder)
            self._id = f"{self._own_ids}_{os.getpid()}_{os.urandom(4).hex()}"
        holder = Holder(self._id, self._machine, 0)
        lease_s = self._settings.lease_s

        def claim(connection: TableConnection) -> Claim | Holder:
            return claim_record(connection, session_id, holder, self._own_ids, lease_s)

        return claim

    def wake(self) -> None:
        """Request sending soon; may be called from any thread."""
        if get_ident() == self._loop_thread:
            self._has_news.set()

    def let_go(self, hold: FleetHold) -> None:
        """Release a record once its unsent part has been sent."""
        self._leaving.append(hold)
        self.wake()

    async def flush(self) -> None:
        """Send all unsent additions.

        A hanging connection does not prevent cancellation. Raises StorageError.
        """
        if get_ident() != self._loop_thread:
            await self.send()
            return
        attempt = self._next
        self._is_awaited.set()
        self._has_news.set()
        await attempt.is_over.wait()
        if attempt.trouble:
            raise attempt.trouble

    async def send(self) -> None:
        """Send all unsent additions, and release records that are being closed. Raises StorageError."""
        async with self._sending:
            for hold in [each for each in self.holds.values() if each.claim is None and each.has_unsent]:
                await self._claim_new(hold)
            if grown := [each for each in self.holds.values() if each.claim and each.has_unsent]:
                for hold, sent_bytes in await self._database.write(partial(_add_all, holds=grown)):
                    if sent_bytes is None:
                        hold.give_up()
                    else:
                        hold.sent_bytes = sent_bytes
            await self._release()

    async def run(self) -> None:
        """Send additions and renew claims until cancelled."""
        self._loop_thread = get_ident()
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._keep_sending)
                tasks.start_soon(self._keep_holds)
        finally:
            self._loop_thread = 0
            self._next.is_over.set()

    async def finish(self) -> None:
        """Send all unsent additions and release all records. Raises StorageError."""
        self._leaving += [each for each in self.holds.values() if each not in self._leaving]
        await self.send()
        if self._id:
            await self._database.write(partial(forget_holders, holder=self._id))

    async def _release(self) -> None:
        """Release the records that are being closed and have nothing left to send."""
        ready = [each for each in self._leaving if not each.has_unsent]
        if claimed := [each for each in ready if each.claim and not each.trouble]:
            await self._database.write(partial(_release_all, holds=claimed))
        for hold in ready:
            self._leaving.remove(hold)
            if self.holds.get(hold.session_id) is hold:
                del self.holds[hold.session_id]

    async def _claim_new(self, hold: FleetHold) -> None:
        claimed = await self._database.write(self.claiming(hold.session_id))
        if isinstance(claimed, Holder) or claimed.size_bytes:
            hold.give_up()
        else:
            hold.claim = claimed

    async def _keep_sending(self) -> None:
        while True:
            await self._has_news.wait()
            self._has_news, self._is_awaited = anyio.Event(), anyio.Event()
            attempt, self._next = self._next, _Attempt()
            try:
                await self.send()
            except StorageError as error:
                attempt.trouble = error
                self._has_news.set()
            finally:
                attempt.is_over.set()
            with anyio.move_on_after(RETRY_S if attempt.trouble else SEND_INTERVAL_S):
                await self._is_awaited.wait()

    async def _keep_holds(self) -> None:
        while True:
            await anyio.sleep(self._settings.heartbeat_s)
            if self.holds and self._id:
                with suppress(StorageError):
                    await self._database.write(partial(note_holder, holder=self._id))


def _add_all(connection: TableConnection, holds: list[FleetHold]) -> list[tuple[FleetHold, int | None]]:
    """Store additions to records; return the stored length of each, or None if another machine holds it."""
    done: list[tuple[FleetHold, int | None]] = []
    for hold in holds:
        content = hold.unsent()
        if not content or hold.claim is None:
            continue
        start = hold.sent_bytes
        if add_to_record(connection, hold.session_id, hold.claim.epoch, start, content) == "sent":
            done.append((hold, start + len(content)))
        else:
            done.append((hold, None))
    return done


def _release_all(connection: TableConnection, holds: list[FleetHold]) -> None:
    for hold in holds:
        assert hold.claim, "it is claimed"
        release_record(connection, hold.session_id, hold.claim.epoch)
