"""An embedded SQLite database with a write-ahead log, one writer, and forward-only migrations.

All of its content can be rebuilt from the transcripts, so a damaged file is moved away, never repaired in
place, and a read-only file is loaded into memory.
"""

import errno
import fcntl
import os
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from hermes_acp.core.errors import StorageError
from hermes_acp.storage.private_files import private_folder, storage_error

if TYPE_CHECKING:
    import sqlite3

    from anyio import CapacityLimiter

T = TypeVar("T")
LOCK_TIMEOUT_S: Final = 10.0
MAX_COPY_BYTES: Final = 64 * 1024 * 1024
CANNOT_WRITE: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC, errno.EDQUOT})


class DatabaseDamaged(StorageError):
    """The file was damaged and moved away. An empty file replaces it and must be filled again."""


class Database:
    """A SQLite file, used by one worker thread at a time."""

    def __init__(self, path: Path, migrations: Sequence[str], *, cache_kib: int = 2048) -> None:
        """Initialise without opening the file. A migration is one or more statements, each ending its line with `;`."""
        self.path = path
        self.set_aside: Path | None = None
        self.is_saved = True
        self.is_frozen = False
        self._migrations = migrations
        self._cache_kib = cache_kib
        self._connection: sqlite3.Connection | None = None
        self._identity: tuple[int, int] | None = None
        self._limiter: CapacityLimiter | None = None
        self._news: list[str] = []
        self._is_closed = False

    async def run(self, work: "Callable[[sqlite3.Connection], T]") -> T:
        """Run `work` in a separate write transaction in a worker thread. Raises StorageError or DatabaseDamaged."""
        return await self._in_thread(work, "BEGIN IMMEDIATE")

    async def read(self, work: "Callable[[sqlite3.Connection], T]") -> T:
        """Run the read-only `work` on a snapshot, without waiting for writers. Raises the same errors as `run`."""
        return await self._in_thread(work, "BEGIN")

    async def _in_thread(self, work: "Callable[[sqlite3.Connection], T]", begin: str) -> T:
        from anyio import CapacityLimiter, to_thread

        if self._limiter is None:
            self._limiter = CapacityLimiter(1)
        return await to_thread.run_sync(self._transact, work, begin, limiter=self._limiter)

    def news(self) -> list[str]:
        """Return notices for the user, each only once."""
        news, self._news = self._news, []
        return news

    def _transact(self, work: "Callable[[sqlite3.Connection], T]", begin: str) -> T:
        import sqlite3

        connection = self._current() or self._open()
        self._connection = connection
        try:
            connection.execute(begin)
            try:
                result = work(connection)
            except BaseException:
                with suppress(sqlite3.Error):  # some errors roll back on their own
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            return result
        except sqlite3.Error as error:
            if _tells_damage(error) and self.is_saved:
                raise self._replace_damaged() from error
            raise self._storage_error(error) from error
        finally:
            if self._is_closed:
                self._disconnect()

    def _current(self) -> "sqlite3.Connection | None":
        """Return the open connection, unless another process has replaced the damaged file with a new one."""
        if self._connection and self.is_saved and _identity_of(self.path) != self._identity:
            self._disconnect()
        return self._connection

    def _storage_error(self, error: "sqlite3.Error") -> StorageError:
        return StorageError(
            f"The session index {self.path} cannot be used: {error}.",
            hint="Check that its folder is writable and the disk is not full. No conversation is lost.",
        )

    def _open(self) -> "sqlite3.Connection":
        import sqlite3

        private_folder(self.path.parent)
        self.is_saved, self.is_frozen = True, False
        try:
            with _one_at_a_time(self.path.with_name(f"{self.path.name}.lock")):
                connection = self._open_alone()
                self._identity = _identity_of(self.path)
                return connection
        except OSError as error:
            if error.errno not in CANNOT_WRITE:
                raise storage_error("open a lock file for the session index", self.path, error) from error
            return self._open_unsaved(error.strerror or str(error))
        except sqlite3.OperationalError as error:
            if not _tells_unwritable(error):
                raise self._storage_error(error) from error
            return self._open_unsaved(str(error))

    def _open_alone(self) -> "sqlite3.Connection":
        import sqlite3

        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            self._move_away()
        return self._connect()

    def _connect(self) -> "sqlite3.Connection":
        import sqlite3

        # Private from the moment it is created. The next statement reports a failure to create it.
        with suppress(OSError):
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(
            self.path, timeout=LOCK_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            connection.execute(f"PRAGMA cache_size=-{self._cache_kib}")
            self.path.chmod(0o600)
            self._migrate(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_unsaved(self, why: str) -> "sqlite3.Connection":
        """Work in memory with the file's content or, if it is large, open the file read-only."""
        import sqlite3

        self.is_saved = False
        stored = self._open_to_read()
        if stored and self.path.stat().st_size > MAX_COPY_BYTES and self._is_of_this_format(stored):
            self.is_frozen = True
            connection = stored
        else:
            connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            if stored:
                with suppress(sqlite3.DatabaseError):  # anything not copied is rebuilt from the transcripts
                    stored.backup(connection)
                stored.close()
            self._migrate(connection)
        self._news.append(
            f"{self.path} cannot be written ({why}): stored sessions are listed as far as possible."
        )
        return connection

    def _open_to_read(self) -> "sqlite3.Connection | None":
        import sqlite3

        if not self.path.is_file():
            return None
        for way in ("mode=ro", "mode=ro&immutable=1"):  # the second one needs no space for the log's index
            connection = None
            try:
                connection = sqlite3.connect(
                    f"{self.path.as_uri()}?{way}", uri=True, isolation_level=None, check_same_thread=False
                )
                connection.execute("SELECT count(*) FROM sqlite_schema")
            except sqlite3.DatabaseError:
                if connection:
                    connection.close()
            else:
                return connection
        return None

    def _is_of_this_format(self, connection: "sqlite3.Connection") -> bool:
        return connection.execute("PRAGMA user_version").fetchone()[0] == len(self._migrations)

    def _migrate(self, connection: "sqlite3.Connection") -> None:
        if self._is_of_this_format(connection):
            return
        connection.execute("BEGIN IMMEDIATE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version > len(self._migrations):
            connection.execute("ROLLBACK")
            raise StorageError(
                f"The session index {self.path} was written by a newer hermes-acp (format {version}).",
                hint="Update hermes-acp, or point HERMES_HOME at another folder.",
            )
        for number in range(version, len(self._migrations)):
            for statement in self._migrations[number].split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {number + 1}")
        connection.execute("COMMIT")

    def _replace_damaged(self) -> StorageError:
        """Move the damaged file away, unless another process has, and return the exception that reports the move."""
        identity = self._identity
        self._disconnect()
        try:
            with _one_at_a_time(self.path.with_name(f"{self.path.name}.lock")):
                if identity == _identity_of(self.path):
                    self._move_away()
        except OSError as error:
            return storage_error("set aside the damaged index", self.path, error)
        return DatabaseDamaged(f"The session index {self.path} was damaged.", hint="It is being rebuilt.")

    def _move_away(self) -> None:
        number = 1
        while (target := self.path.with_name(f"{self.path.name}.damaged-{number}")).exists():
            number += 1
        try:
            self.path.rename(target)
            for suffix in ("-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        except OSError as error:
            raise storage_error("set aside the damaged index", self.path, error) from error
        self.set_aside = target
        self._news.append(
            f"The session index was damaged: it is kept as {target} and rebuilt from the session records."
        )

    async def aclose(self) -> None:
        """Close the file in a worker thread after pending work, since checkpointing the log waits for the disk."""
        if self._limiter is None:
            self.close()
            return
        from anyio import to_thread

        # Even if nothing is open yet: the first work may be on its way to its thread.
        await to_thread.run_sync(self.close, limiter=self._limiter)

    def close(self) -> None:
        """Close the file; any later work opens it only for its own duration."""
        self._is_closed = True
        self._disconnect()

    def _disconnect(self) -> None:
        if self._connection:
            self._connection.close()
            self._connection = None


def _identity_of(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _tells_damage(error: "sqlite3.Error") -> bool:
    import sqlite3

    code: int = getattr(error, "sqlite_errorcode", 0)
    if code == sqlite3.SQLITE_ERROR:  # a file without the tables of its version
        return str(error).startswith(("no such table: ", "table "))
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _tells_unwritable(error: "sqlite3.Error") -> bool:
    import sqlite3

    code: int = getattr(error, "sqlite_errorcode", 0)
    return code & 0xFF in (
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,  # SQLite reports this if there is no space for the log
    )


@contextmanager
def _one_at_a_time(lock: Path) -> Generator[None]:
    """Keep other processes from opening the file meanwhile, because SQLite does not wait to start a write-ahead log."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
