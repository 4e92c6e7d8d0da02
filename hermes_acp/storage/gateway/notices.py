"""Notices for people on chat platforms, queued by the resident process, and their delivery states.

A notice is `new`, then `sent` once its messages are in the outbox, or `refused`. One with a question is `asking` in
between, until the question is closed. Adding the same notice again changes nothing unless it failed. Functions block
and raise StorageError.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.storage.gateway.gateway_database import GatewayDatabase
from hermes_acp.storage.gateway.outbox import OutgoingPart, put_parts

NoticeOutcome = Literal["waiting", "delivered", "failed"]
KEPT_S: Final = 30 * 86_400.0
LIFETIME_S: Final = 12 * 3_600.0
"""The age at which a waiting notice expires. The resident process gives up sooner."""
EXPIRED: Final = "It is too old to be sent: the gateway was not running."


class Notice(Struct, frozen=True):
    """A text for a room (`PLATFORM:ID`) or a person (`NAME`). With `asks`, a question is waiting in the session."""

    id: str
    to: str
    text: str
    session_id: str = ""
    asks: bool = False

    @property
    def prefix(self) -> str:
        """The prefix of the IDs of the notice's messages."""
        return f"notice:{self.id}:{self.to}:"


class Notices:
    """The notices of one gateway."""

    def __init__(self, database: GatewayDatabase) -> None:
        self._database = database

    def add(self, notice: Notice, now: float) -> None:
        """Add a notice. One that failed is retried."""

        def insert(connection: sqlite3.Connection) -> None:
            if _outcome(connection, notice)[0] == "failed":
                connection.execute(
                    "DELETE FROM outbox WHERE substr(id, 1, ?) = ?", (len(notice.prefix), notice.prefix)
                )
                connection.execute("DELETE FROM notices WHERE id = ? AND target = ?", (notice.id, notice.to))
            connection.execute(
                "INSERT OR IGNORE INTO notices VALUES (?, ?, ?, ?, ?, 'new', '', ?)",
                (notice.id, notice.to, notice.text, notice.session_id, notice.asks, now),
            )

        self._database.transact(insert)

    def outcome(self, notice: Notice) -> tuple[NoticeOutcome, str]:
        """Return a notice's outcome and, if it failed, the reason."""
        return self._database.transact(lambda connection: _outcome(connection, notice))

    def new(self, now: float) -> list[Notice]:
        """Return the notices that have not been taken yet, oldest first.

        Those that are too old are marked as failed.
        """

        def take(connection: sqlite3.Connection) -> list[Notice]:
            connection.execute(
                "UPDATE notices SET state = 'refused', error = ? WHERE state = 'new' AND created_at < ?",
                (EXPIRED, now - LIFETIME_S),
            )
            connection.execute("DELETE FROM notices WHERE created_at < ?", (now - KEPT_S,))
            return _select(connection, "new")

        return self._database.transact(take)

    def asking(self) -> list[Notice]:
        """Return the notices whose questions were still open when an earlier process ended."""
        return self._database.transact(lambda connection: _select(connection, "asking"))

    def take(self, notice: Notice, parts: Sequence[OutgoingPart], now: float) -> None:
        """Put the messages of a notice into the outbox and delete its text."""

        def store(connection: sqlite3.Connection) -> None:
            put_parts(connection, parts, now)
            _set_state(connection, notice, "asking" if notice.asks else "sent")

        self._database.transact(store)

    def refuse(self, notice: Notice, error: str) -> None:
        """Record the reason why a notice cannot be sent."""
        self._database.transact(lambda connection: _set_state(connection, notice, "refused", error))

    def end(self, notice: Notice) -> None:
        """Record that the question of a notice is closed."""
        self._database.transact(lambda connection: _set_state(connection, notice, "sent"))


def _select(connection: sqlite3.Connection, state: str) -> list[Notice]:
    rows = connection.execute(
        "SELECT id, target, text, session_id, asks FROM notices WHERE state = ? ORDER BY created_at", (state,)
    )
    return [Notice(id_, to, text, session_id, bool(asks)) for id_, to, text, session_id, asks in rows]


def _set_state(connection: sqlite3.Connection, notice: Notice, state: str, error: str = "") -> None:
    connection.execute(
        "UPDATE notices SET state = ?, error = ?, text = '' WHERE id = ? AND target = ?",
        (state, error, notice.id, notice.to),
    )


def _outcome(connection: sqlite3.Connection, notice: Notice) -> tuple[NoticeOutcome, str]:
    row = connection.execute(
        "SELECT state, error FROM notices WHERE id = ? AND target = ?", (notice.id, notice.to)
    ).fetchone()
    if row is None or row[0] == "new":
        return "waiting", ""
    if row[0] == "refused":
        return "failed", row[1]
    sent = connection.execute(
        "SELECT state, error FROM outbox WHERE substr(id, 1, ?) = ?", (len(notice.prefix), notice.prefix)
    ).fetchall()
    for state, error in sent:
        if state == "failed":
            return "failed", error
    return ("delivered" if all(state == "delivered" for state, _ in sent) else "waiting"), ""
