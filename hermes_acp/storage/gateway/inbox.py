"""Incoming messages: each is stored once, before it is processed, and kept until it is answered.

A message is first `received`, then `prompted` (recorded before it is sent to the agent), then `done`. Functions block
and raise StorageError.
"""

import json
import sqlite3
from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.storage.gateway.gateway_database import GatewayDatabase
from hermes_acp.storage.gateway.outbox import OutgoingPart, put_parts

InboxState = Literal["received", "prompted", "done"]
KEPT_S: Final = 7 * 86_400.0
COLUMNS: Final = "number, platform, conversation, state, message, prompts_before, cuts"


class InboxEntry(Struct, frozen=True):
    """An unanswered message; `message` is what the gateway stored.

    `prompts_before` counts the session's prompts before this one. `cuts` are the offsets in the answer at which other
    messages interrupted it.
    """

    number: int
    platform: str
    conversation: str
    state: InboxState
    message: str
    prompts_before: int
    cuts: tuple[int, ...]


class StoredConversation(Struct, frozen=True):
    """The session of a conversation, with its profile and folder."""

    session_id: str
    profile: str
    folder: str


class Inbox:
    """The messages of one gateway, and the sessions of its conversations."""

    def __init__(self, database: GatewayDatabase) -> None:
        self._database = database

    def add(
        self, platform: str, message_id: str, conversation: str, message: str, now: float
    ) -> InboxEntry | None:
        """Store a message. Return None if it was already stored within the last week."""
        message_hash = self._database.hash(platform, "message", message_id)

        def insert(connection: sqlite3.Connection) -> InboxEntry | None:
            connection.execute("DELETE FROM inbox WHERE state = 'done' AND received_at < ?", (now - KEPT_S,))
            done = connection.execute(
                """INSERT OR IGNORE INTO inbox
                   (platform, message_hash, conversation, state, message, prompts_before, cuts, received_at)
                   VALUES (?, ?, ?, 'received', ?, 0, '[]', ?)""",
                (platform, message_hash, conversation, message, now),
            )
            if not done.rowcount or done.lastrowid is None:
                return None
            return InboxEntry(done.lastrowid, platform, conversation, "received", message, 0, ())

        return self._database.transact(insert)

    def is_new(self, platform: str, message_id: str, now: float) -> bool:
        """Record a message that does not need an answer from the agent; return whether it is new."""
        entry = self.add(platform, message_id, "", "", now)
        if entry is not None:
            self.finish(entry.number, ())
        return entry is not None

    def waiting(self) -> list[InboxEntry]:
        """Return the unanswered messages, oldest first."""
        return self._database.transact(
            lambda connection: [
                _entry(row)
                for row in connection.execute(
                    f"SELECT {COLUMNS} FROM inbox WHERE state <> 'done' ORDER BY number"
                )
            ]
        )

    def prompting(self, number: int, prompts_before: int) -> None:
        """Record that a message is about to be sent to the agent."""
        self._database.transact(
            lambda connection: connection.execute(
                "UPDATE inbox SET state = 'prompted', prompts_before = ? WHERE number = ?",
                (prompts_before, number),
            )
        )

    def cut(self, number: int, cuts: Sequence[int]) -> None:
        """Store the offsets at which other messages interrupted the answer."""
        self._database.transact(
            lambda connection: connection.execute(
                "UPDATE inbox SET cuts = ? WHERE number = ?", (json.dumps([*cuts]), number)
            )
        )

    def finish(self, number: int, parts: Sequence[OutgoingPart], now: float = 0.0) -> None:
        """Record that a message was answered, queue the whole answer for sending, and delete the message's content."""

        def store(connection: sqlite3.Connection) -> None:
            put_parts(connection, parts, now)
            connection.execute("UPDATE inbox SET state = 'done', message = '' WHERE number = ?", (number,))

        self._database.transact(store)

    def conversation(self, key: str) -> StoredConversation | None:
        """Return the session of a conversation, or None."""

        def select(connection: sqlite3.Connection) -> StoredConversation | None:
            row = connection.execute(
                "SELECT session_id, profile, folder FROM conversations WHERE key = ?", (key,)
            ).fetchone()
            return StoredConversation(*row) if row else None

        return self._database.transact(select)

    def is_conversation(self, session_id: str) -> bool:
        """Return whether a session belongs to a conversation."""

        def select(connection: sqlite3.Connection) -> bool:
            found = connection.execute(
                "SELECT 1 FROM conversations WHERE session_id = ? LIMIT 1", (session_id,)
            )
            return found.fetchone() is not None

        return self._database.transact(select)

    def set_conversation(self, key: str, stored: StoredConversation | None) -> None:
        """Store a conversation's session, or remove it."""

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM conversations WHERE key = ?", (key,))
            if stored:
                connection.execute(
                    "INSERT INTO conversations VALUES (?, ?, ?, ?)",
                    (key, stored.session_id, stored.profile, stored.folder),
                )

        self._database.transact(write)


def _entry(row: tuple[int, str, str, InboxState, str, int, str]) -> InboxEntry:
    number, platform, conversation, state, message, prompts_before, cuts = row
    return InboxEntry(number, platform, conversation, state, message, prompts_before, tuple(json.loads(cuts)))
