"""The embedded SQLite database: write-ahead log, one writer, migrations that only go forward.

Knows: how to open, migrate and, where it is damaged, set aside the index file. Does not know: what tables mean.
Everything in it can be rebuilt from the transcripts, so a damaged file is moved away and never repaired in place.
"""

import fcntl
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from hermes_acp.core.errors import StorageTrouble
from hermes_acp.storage.files import private_folder, storage_trouble

if TYPE_CHECKING:
    import sqlite3

    from anyio import CapacityLimiter

T = TypeVar("T")
LOCKED_WAIT_S = 10.0


class Database:
    """One SQLite file, used from worker threads, one at a time."""

    def __init__(self, path: Path, migrations: Sequence[str]) -> None:
        self.path = path
        self.set_aside: Path | None = None
        self._migrations = migrations
        self._connection: sqlite3.Connection | None = None
        self._limiter: CapacityLimiter | None = None

    async def run(self, work: "Callable[[sqlite3.Connection], T]") -> T:
        """Do `work` in one transaction of its own in a worker thread. Raises StorageTrouble."""
        from anyio import CapacityLimiter, to_thread

        if self._limiter is None:
            self._limiter = CapacityLimiter(1)
        return await to_thread.run_sync(self._transact, work, limiter=self._limiter)

    def _transact(self, work: "Callable[[sqlite3.Connection], T]") -> T:
        import sqlite3

        connection = self._connection or self._open()
        self._connection = connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            return result
        except sqlite3.Error as error:
            raise self._trouble(error) from error

    def _trouble(self, error: "sqlite3.Error") -> StorageTrouble:
        return StorageTrouble(
            f"The session index {self.path} cannot be used: {error}.",
            hint="Check that its folder is writable and the disk not full. Conversations themselves are kept apart.",
        )

    def _open(self) -> "sqlite3.Connection":
        private_folder(self.path.parent)
        with _one_at_a_time(self.path.with_name(f"{self.path.name}.lock")):
            return self._open_alone()

    def _open_alone(self) -> "sqlite3.Connection":
        import sqlite3

        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise self._trouble(error) from error
            self._move_away()
        try:
            return self._connect()
        except sqlite3.Error as error:
            raise self._trouble(error) from error

    def _connect(self) -> "sqlite3.Connection":
        import sqlite3

        connection = sqlite3.connect(
            self.path, timeout=LOCKED_WAIT_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            self.path.chmod(0o600)
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _migrate(self, connection: "sqlite3.Connection") -> None:
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > len(self._migrations):
            connection.execute("ROLLBACK")
            raise StorageTrouble(
                f"The session index {self.path} was written by a newer hermes-acp (format {version}).",
                hint="Update hermes-acp, or point HERMES_HOME at another folder.",
            )
        for number in range(version, len(self._migrations)):
            connection.execute(self._migrations[number])
            connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute("COMMIT")

    def _move_away(self) -> None:
        number = 1
        while (target := self.path.with_name(f"{self.path.name}.damaged-{number}")).exists():
            number += 1
        try:
            self.path.rename(target)
            for suffix in ("-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise storage_trouble("set aside the damaged index", self.path, error) from error
        self.set_aside = target

    def close(self) -> None:
        """Close the file; a later `run` opens it again."""
        if self._connection:
            self._connection.close()
            self._connection = None


@contextmanager
def _one_at_a_time(lock: Path) -> Generator[None]:
    """Keep other processes from opening meanwhile: SQLite does not wait for its turn to begin a write-ahead log."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise storage_trouble("open the session index beside", lock, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
