"""The SQLite file of the embedded engine: durable transactions, and a cheap check for changes by other processes.

Its content cannot be rebuilt, so a damaged file is reported and left as it is.
"""

import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeVar

from anyio import CapacityLimiter, to_thread

from hermes_acp.core.errors import StorageError
from hermes_acp.runs.tables.table_connection import TableConnection
from hermes_acp.storage.private_files import private_folder

T = TypeVar("T")
LOCK_TIMEOUT_S: Final = 10.0
DAMAGED: Final = frozenset({"SQLITE_NOTADB", "SQLITE_CORRUPT"})
DAMAGED_HINT: Final = "Move it away: its runs are lost, sessions are not. `hermes-acp doctor` checks it."


class RunDatabase:
    """One connection, used by one worker thread at a time."""

    def __init__(self, path: Path, migrations: Sequence[str]) -> None:
        """Store the arguments; nothing is opened until first use.

        A migration is one or more statements, each ending with `;` at the end of a line.
        """
        self.path = path
        self._migrations = migrations
        self._connection: sqlite3.Connection | None = None
        self._limiter: CapacityLimiter | None = None

    async def write(self, work: Callable[[TableConnection], T]) -> T:
        """Run `work` in a write transaction that is durable on return.

        Raises StorageError, after which the transaction may or may not have been committed.
        """
        return await self._in_thread(work, "BEGIN IMMEDIATE")

    async def read(self, work: Callable[[TableConnection], T]) -> T:
        """Run the read-only `work` on a snapshot. Raises StorageError."""
        return await self._in_thread(work, "BEGIN")

    async def aclose(self) -> None:
        """Close the file after pending work has finished, even if that work has not opened it yet."""
        if self._limiter:
            await to_thread.run_sync(self._close, limiter=self._limiter)

    async def _in_thread(self, work: Callable[[TableConnection], T], begin: str) -> T:
        if self._limiter is None:
            self._limiter = CapacityLimiter(1)
        return await to_thread.run_sync(self._transact, work, begin, limiter=self._limiter)

    def _transact(self, work: Callable[[TableConnection], T], begin: str) -> T:
        try:
            connection = self._open()
            connection.execute(begin)
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):  # some errors roll back on their own
                    connection.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise self._error(error) from error
        return result

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            self._connection = self._connect()
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        private_folder(self.path.parent)
        with suppress(OSError):  # private from the start; SQLite reports a failure to create it
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(
            self.path, timeout=LOCK_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        if self._version_of(connection) == len(self._migrations):
            return
        connection.execute("BEGIN IMMEDIATE")
        version = self._version_of(connection)
        if version > len(self._migrations):
            connection.execute("ROLLBACK")
            raise StorageError(
                f"{self.path} was written by a newer hermes-acp (format {version}).",
                hint="Update hermes-acp, or point HERMES_HOME at another folder.",
            )
        for number in range(version, len(self._migrations)):
            for statement in self._migrations[number].split(";\n"):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {len(self._migrations)}")
        connection.execute("COMMIT")

    @staticmethod
    def _version_of(connection: sqlite3.Connection) -> int:
        return connection.execute("PRAGMA user_version").fetchone()[0]

    def _close(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None

    def _error(self, error: sqlite3.Error) -> StorageError:
        is_damaged = getattr(error, "sqlite_errorname", "") in DAMAGED
        return StorageError(
            f"The runs in {self.path} cannot be used: {error}.",
            hint=DAMAGED_HINT
            if is_damaged
            else "Check that its folder is writable and the disk is not full.",
        )


class ChangeProbe:
    """Checks cheaply whether anyone has committed since the last check; used on the event loop."""

    def __init__(self, path: Path) -> None:
        """Open the file, which must exist. Raises StorageError."""
        try:
            self._connection = sqlite3.connect(path, timeout=0, isolation_level=None)
        except sqlite3.Error as error:
            raise StorageError(f"The runs in {path} cannot be used: {error}.") from error
        self._seen = -1

    def has_changed(self) -> bool:
        """Return whether there have been commits since the last call. An unreadable file counts as changed."""
        try:
            (version,) = self._connection.execute("PRAGMA data_version").fetchone()
        except sqlite3.Error:
            return True
        seen, self._seen = self._seen, version
        return seen != version

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
