"""Wait for changes to shared boards, with one connection for everything in the process that waits."""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from hashlib import md5
from typing import Final

import anyio

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import StorageError
from hermes_acp.runs.fleet.postgres_changes import PostgresChanges
from hermes_acp.runs.fleet.postgres_database import PostgresDatabase

POLL_INTERVAL_S: Final = 2.0
"""How often, in seconds, the boards are read while no notifications arrive, for example after a lost connection."""


class BoardNotices:
    """Receives the notifications about a schema's boards; one of the waiting tasks listens on behalf of all."""

    def __init__(self, database: PostgresDatabase) -> None:
        """Store the database; nothing is opened yet."""
        schema = md5(database.schema.encode(), usedforsecurity=False).hexdigest()
        self._changes = PostgresChanges(database, POLL_INTERVAL_S, f"hermes_boards_{schema}")
        self._is_listening = False
        self._turn = anyio.Lock()
        self._news = anyio.Event()

    async def until(self, has_changed: Callable[[], Awaitable[bool]]) -> None:
        """Return once `has_changed` returns True. It is called now and after each change to any board.

        While the database cannot be reached, nothing counts as changed.
        """
        async with background_tasks(self._listen):
            while True:
                news = self._news
                with suppress(StorageError):
                    if await has_changed():
                        return
                await news.wait()

    async def close(self) -> None:
        """Stop listening."""
        await self._changes.close()

    async def _listen(self) -> None:
        """Report each change to all waiting tasks, unless another of them is already doing so."""
        async with self._turn:
            if not self._is_listening:
                self._is_listening = True
                with suppress(StorageError):
                    await self._changes.open()
                self._tell()  # changes from before this point are not announced
            while True:
                await self._changes.wait()
                self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = anyio.Event()
