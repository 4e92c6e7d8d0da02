"""The ledger of deliveries: what to send where, and the outcome of each attempt.

A row is `pending`, then `attempting` (stored before the attempt), then `delivered`, `failed`, or `pending` again. If an
attempt did not finish, because its process was killed or it took too long, the message may have arrived, so the next
attempt is marked as a possible duplicate. Each message therefore arrives at least once. Functions block. The ledger
contains no addresses.
"""

import os
import sqlite3
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

from msgspec import Struct

from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.notification_ports import (
    DeliveryState,
    Notification,
    NotificationKind,
    OutgoingMessage,
)
from hermes_acp.storage.private_files import private_folder

FILE: Final = "notifications.db"
FORMAT: Final = 3
LOCK_TIMEOUT_S: Final = 10.0
KEPT_S: Final = 30 * 86_400.0
BACKOFF_S: Final = (30.0, 120.0, 600.0, 3_600.0, 21_600.0)
MAX_BATCH: Final = 20
UNFINISHED: Final = "No attempt finished: the process ended each time."
T = TypeVar("T")
SCHEMA: Final = (
    """CREATE TABLE IF NOT EXISTS deliveries (
    id TEXT NOT NULL, target TEXT NOT NULL, kind TEXT NOT NULL, session_id TEXT NOT NULL, run_id TEXT NOT NULL,
    title TEXT NOT NULL, body TEXT NOT NULL, state TEXT NOT NULL, attempts INTEGER NOT NULL,
    is_doubtful INTEGER NOT NULL, due_at REAL NOT NULL, updated_at REAL NOT NULL, error TEXT NOT NULL,
    PRIMARY KEY (id, target)
) STRICT""",
    "CREATE TABLE IF NOT EXISTS positions (source TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT",
    """CREATE TABLE IF NOT EXISTS destinations (
    source TEXT NOT NULL, target TEXT NOT NULL, chosen_at REAL NOT NULL, PRIMARY KEY (source, target)
) STRICT""",
)
COLUMNS: Final = (
    "id, target, kind, title, body, state, attempts, is_doubtful, due_at, updated_at, error, session_id"
)


class Delivery(Struct, frozen=True):
    """A notification for one target. While an attempt is running, `due_at` is when it counts as abandoned.

    Times are in seconds since the epoch.
    """

    id: str
    target: str
    kind: NotificationKind
    title: str
    body: str
    state: DeliveryState
    attempts: int
    is_doubtful: bool
    due_at: float
    updated_at: float
    error: str
    session_id: str

    @property
    def message(self) -> OutgoingMessage:
        """The text to deliver."""
        return OutgoingMessage(self.title, self.body, self.id, self.kind, self.session_id)


class DeliveryLedger:
    """The deliveries from a home folder."""

    def __init__(self, home: Path) -> None:
        """Store the path; the database is opened on first use."""
        self.path = home / FILE

    @property
    def exists(self) -> bool:
        """Whether there has ever been anything to deliver."""
        return self.path.is_file()

    def add(
        self, notification: Notification, message: OutgoingMessage, targets: Sequence[str], now: float
    ) -> int:
        """Store a notification for its targets; return for how many it was new. Raises StorageError."""

        def insert(connection: sqlite3.Connection) -> int:
            connection.execute(
                "DELETE FROM deliveries WHERE state IN ('delivered', 'failed') AND updated_at < ?",
                (now - KEPT_S,),
            )
            facts = (notification.kind, notification.session_id, notification.run_id)
            return sum(
                connection.execute(
                    """INSERT OR IGNORE INTO deliveries
                       VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', 0, 0, ?, ?, '')""",
                    (notification.id, target, *facts, message.title, message.body, now, now),
                ).rowcount
                for target in targets
            )

        return self._write(insert)

    def claim(self, now: float, limit_s: float) -> list[Delivery]:
        """Start the attempts that are due, each limited to `limit_s` seconds. Raises StorageError."""

        def take(connection: sqlite3.Connection) -> list[Delivery]:
            rows = connection.execute(
                f"""SELECT {COLUMNS} FROM deliveries WHERE state IN ('pending', 'attempting') AND due_at <= ?
                    ORDER BY due_at LIMIT ?""",
                (now, MAX_BATCH),
            ).fetchall()
            for row in map(_delivery, rows):
                if row.state == "attempting" and row.attempts > len(BACKOFF_S):
                    _give_up(connection, row, now)
                    continue
                connection.execute(
                    """UPDATE deliveries SET state = 'attempting', attempts = attempts + 1, due_at = ?,
                       updated_at = ?, is_doubtful = max(is_doubtful, state = 'attempting')
                       WHERE id = ? AND target = ?""",
                    (now + limit_s, now, row.id, row.target),
                )
            keys = {(row.id, row.target) for row in map(_delivery, rows)}
            return [
                each
                for each in _all(connection)
                if (each.id, each.target) in keys and each.state == "attempting"
            ]

        return self._write(take)

    def settle(
        self,
        delivery: Delivery,
        now: float,
        error: str = "",
        *,
        retryable: bool = False,
        in_doubt: bool = False,
    ) -> None:
        """Store how an attempt ended; after a retryable failure, the delivery becomes due again later.

        Raises StorageError.
        """
        goes_on = bool(error) and retryable and delivery.attempts <= len(BACKOFF_S)
        state: DeliveryState = "pending" if goes_on else "failed" if error else "delivered"
        due_at = now + BACKOFF_S[delivery.attempts - 1] if goes_on else now

        def store(connection: sqlite3.Connection) -> None:
            connection.execute(
                """UPDATE deliveries SET state = ?, due_at = ?, updated_at = ?, error = ?,
                   is_doubtful = max(is_doubtful, ?)
                   WHERE id = ? AND target = ? AND state = 'attempting' AND attempts = ?""",
                (state, due_at, now, error, in_doubt, delivery.id, delivery.target, delivery.attempts),
            )

        self._write(store)

    def retry(self, now: float, notification_id: str = "") -> int:
        """Make failed and pending deliveries due now; return how many. Raises StorageError."""

        def renew(connection: sqlite3.Connection) -> int:
            return connection.execute(
                """UPDATE deliveries SET due_at = ?, attempts = CASE state WHEN 'failed' THEN 0 ELSE attempts END,
                   state = 'pending' WHERE state IN ('pending', 'failed') AND ? IN ('', id)""",
                (now, notification_id),
            ).rowcount

        return self._write(renew)

    def position(self, source: str) -> int | None:
        """Return the position up to which a source's changes have been reported, or None. Raises StorageError."""

        def select(connection: sqlite3.Connection) -> int | None:
            row = connection.execute("SELECT position FROM positions WHERE source = ?", (source,)).fetchone()
            return row[0] if row else None

        return self._write(select)

    def advance(self, source: str, position: int) -> None:
        """Store the position up to which a source's changes have been reported. Raises StorageError."""
        self._write(
            lambda connection: connection.execute(
                "INSERT OR REPLACE INTO positions VALUES (?, ?)", (source, position)
            )
        )

    def choose(self, source: str, targets: Sequence[str], now: float) -> None:
        """Send reports about a source only to these targets. Raises StorageError."""

        def replace(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM destinations WHERE source = ?", (source,))
            for target in targets:
                connection.execute(
                    "INSERT OR IGNORE INTO destinations VALUES (?, ?, ?)", (source, target, now)
                )

        if targets or self.exists:
            self._write(replace)

    def chosen(self, source: str) -> tuple[list[str], float]:
        """Return the targets that were chosen for a source, and when. Raises StorageError."""

        def select(connection: sqlite3.Connection) -> tuple[list[str], float]:
            rows = connection.execute(
                "SELECT target, chosen_at FROM destinations WHERE source = ? ORDER BY target", (source,)
            ).fetchall()
            return [target for target, _ in rows], max((moment for _, moment in rows), default=0.0)

        return self._write(select) if self.exists else ([], 0.0)

    def has_choices(self) -> bool:
        """Return whether targets have ever been chosen. Raises StorageError."""
        return self.exists and self._write(
            lambda connection: bool(
                connection.execute("SELECT EXISTS (SELECT 1 FROM destinations)").fetchone()[0]
            )
        )

    def deliveries(self) -> list[Delivery]:
        """Return all deliveries, the newest first. Raises StorageError."""
        return self._write(_all) if self.exists else []

    def next_due(self) -> float | None:
        """Return when the next attempt is due, or None if there is none. Raises StorageError."""
        return min(
            (each.due_at for each in self.deliveries() if each.state in ("pending", "attempting")),
            default=None,
        )

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            with self._open() as connection:
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
            raise StorageError(
                f"The notifications in {self.path} cannot be used: {error}.",
                hint="Check that its folder is writable and the disk is not full.",
            ) from error

    @contextmanager
    def _open(self) -> Generator[sqlite3.Connection]:
        private_folder(self.path.parent)
        with suppress(OSError):  # private from the moment it is created
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        connection = sqlite3.connect(self.path, timeout=LOCK_TIMEOUT_S, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            if connection.execute("PRAGMA user_version").fetchone()[0] < FORMAT:
                self._create(connection)
            yield connection
        finally:
            connection.close()

    @staticmethod
    def _create(connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        if connection.execute("PRAGMA user_version").fetchone()[0] < FORMAT:
            for statement in SCHEMA:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {FORMAT}")
        connection.execute("COMMIT")


def _give_up(connection: sqlite3.Connection, delivery: Delivery, now: float) -> None:
    connection.execute(
        "UPDATE deliveries SET state = 'failed', updated_at = ?, error = ? WHERE id = ? AND target = ?",
        (now, UNFINISHED, delivery.id, delivery.target),
    )


def _all(connection: sqlite3.Connection) -> list[Delivery]:
    rows = connection.execute(f"SELECT {COLUMNS} FROM deliveries ORDER BY updated_at DESC, id, target")
    return [_delivery(row) for row in rows]


def _delivery(
    row: tuple[str, str, NotificationKind, str, str, DeliveryState, int, int, float, float, str, str],
) -> Delivery:
    return Delivery(*row[:7], bool(row[7]), *row[8:])
