"""Work on runs in folders that follow them from machine to machine.

Before an attempt, the folder is brought to its last stored state if another machine had it. During and after the
attempt, its state is stored where the other machines can reach it.
"""

from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from typing import Final

import anyio
from anyio.to_thread import run_sync
from msgspec import structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import HermesError, StorageError, WorkspaceError
from hermes_acp.core.ports.run_ports import DriveOutcome, Driver, Failed, Lease, RunMessage, RunOrder
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.git.repository_git import GitFailed
from hermes_acp.runs.fleet.workspaces import model_text
from hermes_acp.runs.fleet.workspaces.folder_copies import FolderCopies, is_missing
from hermes_acp.runs.fleet.workspaces.workspace_table import (
    StoredFolder,
    store_state,
    stored_folder,
    take_folder,
)
from hermes_acp.runs.tables.table_connection import TableDatabase

STORE_INTERVAL_S: Final = 10.0
FINAL_STORE_TIMEOUT_S: Final = 60.0
"""How many seconds a worker that is shutting down or has lost its claim tries to store the last state."""


class MovingDriver:
    """Works on the runs of one machine through another driver, and makes their folders follow them."""

    def __init__(
        self, driver: Driver, database: TableDatabase, copies: FolderCopies, machine: str, clock: Clock
    ) -> None:
        self._driver = driver
        self._database = database
        self._copies = copies
        self._machine = machine
        self._clock = clock

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        """Work on a run until it ends or is suspended; by then, its folder's state has been stored, if possible."""
        try:
            news = await self._arrive(order)
        except GitFailed as error:
            return Failed("storage", error.sentence())
        except WorkspaceError as error:
            return Failed("usage", error.sentence())
        if news:
            order = structs.replace(order, news=news)
        watched = _WatchedLease(lease)
        top = await run_sync(self._copies.top_of, order.cwd)
        try:
            async with background_tasks(partial(self._keep_stored, top, watched)):
                return await self._driver.drive(order, watched)
        finally:
            with anyio.move_on_after(FINAL_STORE_TIMEOUT_S, shield=True):
                await self._store(top)

    async def _arrive(self, order: RunOrder) -> str:
        """Bring a run's folder here if another machine had it or if it is gone; return what the model needs to know.

        Raises WorkspaceError or StorageError.
        """
        stored = await self._database.read(lambda connection: stored_folder(connection, order.cwd))
        if stored is None:
            return ""
        if stored.machine == self._machine:
            if not await run_sync(is_missing, stored.top):
                return ""
            await run_sync(self._copies.bring, stored)
            return model_text.rebuilt(_time_of(stored), stored.top)
        if await run_sync(self._copies.has, stored):
            news = ""  # the machines share the folder
        else:
            await run_sync(self._copies.bring, stored)
            news = model_text.moved(_time_of(stored), stored.top)
        if not await self._database.write(lambda connection: take_folder(connection, stored, self._machine)):
            raise StorageError(f"Another machine has stored a new state of {stored.top} in the meantime.")
        return news

    async def _keep_stored(self, top: str, lease: "_WatchedLease") -> None:
        """Store the state at intervals, whenever there has been progress, while the attempt continues."""
        while True:
            await lease.advanced.wait()
            lease.advanced = anyio.Event()
            await anyio.sleep(STORE_INTERVAL_S)
            await self._store(top)

    async def _store(self, top: str) -> None:
        """Store the current state. If that is not possible now, the run continues, and the previous state is kept."""
        if not top:
            return
        with suppress(HermesError):
            if state := await run_sync(self._copies.store, top):
                now = self._clock.now()
                await self._database.write(
                    lambda connection: store_state(connection, top, self._machine, state, now)
                )


class _WatchedLease:
    """A lease that reports when its run has advanced."""

    def __init__(self, lease: Lease) -> None:
        self._lease = lease
        self.advanced = anyio.Event()

    @property
    def epoch(self) -> int:
        """The number of the claim."""
        return self._lease.epoch

    @property
    def messages(self) -> "tuple[RunMessage, ...]":
        """The answers that the run has received so far, the oldest first."""
        return tuple(self._lease.messages)

    def note_progress(self) -> None:
        """Report progress."""
        self.advanced.set()
        self._lease.note_progress()

    async def confirm(self) -> bool:
        """Return whether this worker still holds the run, according to the engine."""
        return await self._lease.confirm()


def _time_of(stored: StoredFolder) -> str:
    return datetime.fromtimestamp(stored.stored_at, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
