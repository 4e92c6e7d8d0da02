"""Messages to send, their destinations and their delivery states.

A message is first `pending`, then `attempting` (recorded before the attempt), then `delivered`, `failed`, or `pending`
again. An attempt that was interrupted may have succeeded. Its retry is marked as such, unless the platform deduplicates
messages or the attempt edited an existing message. Functions block and raise StorageError.
"""

import sqlite3
from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.storage.gateway.gateway_database import GatewayDatabase

OutboxState = Literal["pending", "attempting", "delivered", "failed"]
KEPT_S: Final = 30 * 86_400.0
BACKOFF_S: Final = (1.0, 2.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3_600.0)
COLUMNS: Final = (
    "number, id, platform, conversation, place, text, message_id, state, attempts, is_doubtful, due_at, error"
)


class OutgoingPart(Struct, frozen=True):
    """A message to send, with the gateway's own ID for it. A later part with the same ID replaces its text."""

    id: str
    platform: str
    conversation: str
    place: str
    text: str


class OutboxEntry(Struct, frozen=True):
    """A message to send, as stored. `message_id` is the platform's ID, once the message was delivered."""

    number: int
    id: str
    platform: str
    conversation: str
    place: str
    text: str
    message_id: str
    state: OutboxState
    attempts: int
    is_doubtful: bool
    due_at: float
    error: str


class Outbox:
    """The outgoing messages of one gateway."""

    def __init__(self, database: GatewayDatabase) -> None:
        self._database = database

    def put(self, part: OutgoingPart, now: float) -> None:
        """Store a message to send, or a new text for a stored one."""
        self._database.transact(lambda connection: put_parts(connection, (part,), now))

    def key_of(self, part_id: str) -> str:
        """Return a key by which a platform deduplicates a message; it is unique to this home folder."""
        return self._database.hash("outbox", part_id)

    def find(self, part_id: str) -> OutboxEntry | None:
        """Return a message by the gateway's ID for it, or None."""

        def select(connection: sqlite3.Connection) -> OutboxEntry | None:
            row = connection.execute(f"SELECT {COLUMNS} FROM outbox WHERE id = ?", (part_id,)).fetchone()
            return _entry(row) if row else None

        return self._database.transact(select)

    def unsent(self, platform: str) -> list[OutboxEntry]:
        """Return the messages to send on a platform, oldest first."""
        return self._database.transact(
            lambda connection: [
                _entry(row)
                for row in connection.execute(
                    f"""SELECT {COLUMNS} FROM outbox
                        WHERE platform = ? AND state IN ('pending', 'attempting') ORDER BY number""",
                    (platform,),
                )
            ]
        )

    def attempt(self, number: int, now: float) -> None:
        """Record that a message is about to be sent."""
        self._database.transact(
            lambda connection: connection.execute(
                "UPDATE outbox SET state = 'attempting', attempts = attempts + 1, updated_at = ? WHERE number = ?",
                (now, number),
            )
        )

    def delivered(self, number: int, message_id: str, text: str, now: float) -> None:
        """Record that a text was delivered. A newer text that was stored in the meantime remains to be sent."""
        self._database.transact(
            lambda connection: connection.execute(
                """UPDATE outbox SET state = CASE WHEN text = ? THEN 'delivered' ELSE 'pending' END,
                   message_id = ?, attempts = 0, due_at = ?, updated_at = ?, error = '' WHERE number = ?""",
                (text, message_id, now, now, number),
            )
        )

    def retry(self, number: int, due_at: float, error: str, *, in_doubt: bool) -> None:
        """Record that an attempt failed and must be repeated; `in_doubt` if it may have been delivered."""
        self._database.transact(
            lambda connection: connection.execute(
                """UPDATE outbox SET state = 'pending', due_at = ?, error = ?,
                   is_doubtful = max(is_doubtful, ?) WHERE number = ?""",
                (due_at, error, in_doubt, number),
            )
        )

    def fail(self, number: int, error: str, now: float) -> None:
        """Record that a message cannot be sent."""
        self._database.transact(
            lambda connection: connection.execute(
                "UPDATE outbox SET state = 'failed', error = ?, updated_at = ? WHERE number = ?",
                (error, now, number),
            )
        )

    def recover(self, platform: str, safe_since: float) -> None:
        """Make unfinished attempts of an ended process due again, and mark those that may have been delivered.

        The platform deduplicates messages sent after `safe_since`.
        """

        def renew(connection: sqlite3.Connection) -> None:
            connection.execute(
                """UPDATE outbox SET state = 'pending', due_at = 0,
                   is_doubtful = max(is_doubtful, message_id = '' AND updated_at <= ?)
                   WHERE platform = ? AND state = 'attempting'""",
                (safe_since, platform),
            )

        self._database.transact(renew)

    def withdraw(self, prefix: str, now: float) -> None:
        """Cancel unsent messages whose IDs start with the prefix, because they are out of date."""
        self._database.transact(
            lambda connection: connection.execute(
                """UPDATE outbox SET state = 'failed', error = 'withdrawn', updated_at = ?
                   WHERE substr(id, 1, ?) = ? AND state IN ('pending', 'attempting')""",
                (now, len(prefix), prefix),
            )
        )

    def erase(self, now: float) -> None:
        """Delete the texts and destinations of messages that need no further sending, and old messages entirely.

        Afterwards, the database files contain neither these texts nor texts deleted elsewhere.
        """

        def delete(connection: sqlite3.Connection) -> None:
            connection.execute(
                """UPDATE outbox SET place = '', text = ''
                   WHERE state IN ('delivered', 'failed') AND (place <> '' OR text <> '')"""
            )
            connection.execute(
                "DELETE FROM outbox WHERE state IN ('delivered', 'failed') AND updated_at < ?",
                (now - KEPT_S,),
            )

        self._database.transact(delete)
        self._database.empty_log()

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of messages by platform and state."""

        def select(connection: sqlite3.Connection) -> dict[str, dict[str, int]]:
            found: dict[str, dict[str, int]] = {}
            rows = connection.execute("SELECT platform, state, count(*) FROM outbox GROUP BY platform, state")
            for platform, state, number in rows:
                found.setdefault(platform, {})[state] = number
            return found

        return self._database.transact(select)


def put_parts(connection: sqlite3.Connection, parts: Sequence[OutgoingPart], now: float) -> None:
    """Store messages to send within a transaction. Text that was already stored is not sent again."""
    for part in parts:
        connection.execute(
            """INSERT INTO outbox (id, platform, conversation, place, text, message_id, state, attempts,
               is_doubtful, due_at, updated_at, error)
               VALUES (?, ?, ?, ?, ?, '', 'pending', 0, 0, 0, ?, '')
               ON CONFLICT (id) DO UPDATE SET text = excluded.text, place = excluded.place,
               updated_at = excluded.updated_at, state = CASE state WHEN 'delivered' THEN 'pending' ELSE state END
               WHERE text <> excluded.text""",
            (part.id, part.platform, part.conversation, part.place, part.text, now),
        )


def _entry(
    row: tuple[int, str, str, str, str, str, str, OutboxState, int, int, float, str],
) -> OutboxEntry:
    number, id_, platform, conversation, place, text, message_id, state, attempts, doubtful, due_at, error = (
        row
    )
    return OutboxEntry(
        number,
        id_,
        platform,
        conversation,
        place,
        text,
        message_id,
        state,
        attempts,
        bool(doubtful),
        due_at,
        error,
    )
