"""The gateway's database in a home folder: its tables, its key for hashing ids, and transactions.

Functions block and may be called from any thread; they raise StorageError. Other processes that use the home folder may
use the file at the same time.
"""

import hmac
import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final, TypeVar

from hermes_acp.core.errors import StorageError
from hermes_acp.storage.private_files import private_folder

FILE: Final = "gateway.db"
LOCK_TIMEOUT_S: Final = 10.0
T = TypeVar("T")
FIRST_FORMAT: Final = (
    "CREATE TABLE facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    "CREATE TABLE people (name TEXT PRIMARY KEY, role TEXT NOT NULL, profile TEXT NOT NULL) STRICT",
    """CREATE TABLE identities (
    platform TEXT NOT NULL, id_hash TEXT NOT NULL, person TEXT NOT NULL, place TEXT NOT NULL,
    PRIMARY KEY (platform, id_hash)
) STRICT""",
    """CREATE TABLE pairings (
    platform TEXT NOT NULL, id_hash TEXT NOT NULL, code_hash TEXT NOT NULL, expires_at REAL NOT NULL,
    PRIMARY KEY (platform, id_hash)
) STRICT""",
    """CREATE TABLE conversations (
    key TEXT PRIMARY KEY, session_id TEXT NOT NULL, profile TEXT NOT NULL, folder TEXT NOT NULL
) STRICT""",
    """CREATE TABLE inbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT, platform TEXT NOT NULL, message_hash TEXT NOT NULL,
    conversation TEXT NOT NULL, state TEXT NOT NULL, message TEXT NOT NULL, prompts_before INTEGER NOT NULL,
    cuts TEXT NOT NULL, received_at REAL NOT NULL, UNIQUE (platform, message_hash)
) STRICT""",
    "CREATE INDEX waiting ON inbox (state) WHERE state <> 'done'",
    """CREATE TABLE outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, platform TEXT NOT NULL,
    conversation TEXT NOT NULL, place TEXT NOT NULL, text TEXT NOT NULL, message_id TEXT NOT NULL,
    state TEXT NOT NULL, attempts INTEGER NOT NULL, is_doubtful INTEGER NOT NULL,
    due_at REAL NOT NULL, updated_at REAL NOT NULL, error TEXT NOT NULL
) STRICT""",
    "CREATE INDEX unsent ON outbox (state) WHERE state IN ('pending', 'attempting')",
)
FORMATS: Final = (
    FIRST_FORMAT,
    (
        """CREATE TABLE notices (
    id TEXT NOT NULL, target TEXT NOT NULL, text TEXT NOT NULL, session_id TEXT NOT NULL, asks INTEGER NOT NULL,
    state TEXT NOT NULL, error TEXT NOT NULL, created_at REAL NOT NULL, PRIMARY KEY (id, target)
) STRICT""",
    ),
)
"""The migration from each format to the next."""


class GatewayDatabase:
    """One connection, used by one thread at a time."""

    def __init__(self, home: Path) -> None:
        """Open nothing yet."""
        self.path = home / FILE
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._key = b""

    @property
    def exists(self) -> bool:
        """Whether the gateway of this home folder has ever been used."""
        return self.path.is_file()

    def transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run a function in a transaction of its own."""
        with self._lock:
            try:
                connection = self._open()
                connection.execute("BEGIN IMMEDIATE")
                try:
                    result = work(connection)
                    connection.execute("COMMIT")
                except BaseException:
                    with suppress(sqlite3.Error):
                        connection.execute("ROLLBACK")
                    raise
                return result
            except sqlite3.Error as error:
                raise self._error(error) from error

    def version(self) -> int:
        """Return a number that changes when another connection has changed something."""
        with self._lock:
            try:
                return self._open().execute("PRAGMA data_version").fetchone()[0]
            except sqlite3.Error as error:
                raise self._error(error) from error

    def hash(self, *parts: str) -> str:
        """Return a keyed hash of an ID, so that the file does not reveal whose ID it is."""
        if not self._key:
            self._key = bytes.fromhex(self.transact(_key))
        return hmac.digest(self._key, "\0".join(parts).encode(), sha256).hex()

    def fact(self, name: str) -> str:
        """Return a stored value, or an empty string."""

        def select(connection: sqlite3.Connection) -> str:
            row = connection.execute("SELECT value FROM facts WHERE name = ?", (name,)).fetchone()
            return row[0] if row else ""

        return self.transact(select)

    def set_fact(self, name: str, value: str) -> None:
        """Store a value under a name."""
        self.transact(
            lambda connection: connection.execute("INSERT OR REPLACE INTO facts VALUES (?, ?)", (name, value))
        )

    def empty_log(self) -> None:
        """Checkpoint the write-ahead log into the main file, so that it keeps no deleted texts."""
        with self._lock:
            try:
                self._open().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            except sqlite3.Error as error:
                raise self._error(error) from error

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        private_folder(self.path.parent)
        with suppress(OSError):  # private from the moment it is created
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(
            self.path, timeout=LOCK_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA secure_delete=ON")  # deleted texts are overwritten
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")  # a killed process loses nothing
            if connection.execute("PRAGMA user_version").fetchone()[0] < len(FORMATS):
                _create(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection

    def _error(self, error: sqlite3.Error) -> StorageError:
        return StorageError(
            f"The gateway's database {self.path} cannot be used: {error}.",
            hint="Check that its folder is writable and the disk is not full.",
        )


def _create(connection: sqlite3.Connection) -> None:
    connection.execute("BEGIN IMMEDIATE")
    present = connection.execute("PRAGMA user_version").fetchone()[0]
    for statements in FORMATS[present:]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {max(present, len(FORMATS))}")
    connection.execute("COMMIT")


def _key(connection: sqlite3.Connection) -> str:
    connection.execute("INSERT OR IGNORE INTO facts VALUES ('key', ?)", (os.urandom(32).hex(),))
    return connection.execute("SELECT value FROM facts WHERE name = 'key'").fetchone()[0]
