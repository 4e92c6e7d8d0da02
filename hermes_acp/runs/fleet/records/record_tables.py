"""SQL statements for shared records: their holders, content and changes.

A record is a sequence of bytes, stored in parts. Its epoch increases with each holder, and only the holder of the
latest epoch can append. Only the server's clock decides whether a holder is alive.
"""

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.runs.tables.table_connection import TableConnection

MAX_PART_BYTES: Final = 16 << 10
"""The length in bytes from which a part is not extended any further."""
FORGOTTEN_DAYS: Final = 7
Sending = Literal["sent", "taken_over"]


class Claim(Struct, frozen=True):
    """A claimed record: the claim's epoch and the stored size in bytes."""

    epoch: int
    size_bytes: int


class Holder(Struct, frozen=True):
    """The holder of a record, its machine, and how often it has been seen."""

    id: str
    machine: str
    beat: int


class RecordRow(Struct, frozen=True):
    """A stored record; `changed_at` is in seconds since the epoch on the server's clock."""

    session_id: str
    size_bytes: int
    is_deleted: bool
    changed_at: float


def claim_record(
    connection: TableConnection, session_id: str, holder: Holder, own_ids: str, lease_s: float
) -> Claim | Holder:
    """Claim a record, or return its holder.

    A record can be claimed if nobody holds it, if its holder's ID starts with `own_ids`, or if the holder has not been
    seen for a whole lease.
    """
    connection.execute(
        """INSERT INTO records (session_id, epoch, holder, machine, size, is_deleted, changed_at)
           VALUES (?, 0, '', '', 0, 0, clock_timestamp()) ON CONFLICT (session_id) DO NOTHING""",
        (session_id,),
    )
    epoch, present, machine, size, beat, is_seen = connection.execute(
        """SELECT epoch, holder, machine, size, COALESCE(beat, 0),
           COALESCE(seen_at > clock_timestamp() - make_interval(secs => ?), FALSE)
           FROM records LEFT JOIN record_holders ON record_holders.id = holder
           WHERE session_id = ? FOR UPDATE OF records""",
        (lease_s, session_id),
    ).fetchone()
    if present and is_seen and not present.startswith(own_ids):
        return Holder(present, machine, beat)
    connection.execute(
        "UPDATE records SET epoch = ?, holder = ?, machine = ? WHERE session_id = ?",
        (epoch + 1, holder.id, holder.machine, session_id),
    )
    note_holder(connection, holder.id)
    return Claim(epoch + 1, size)


def note_holder(connection: TableConnection, holder: str) -> None:
    """Record that a holder is alive."""
    connection.execute(
        """INSERT INTO record_holders (id, beat, seen_at) VALUES (?, 1, clock_timestamp())
           ON CONFLICT (id) DO UPDATE SET beat = record_holders.beat + 1, seen_at = clock_timestamp()""",
        (holder,),
    )


def forget_holders(connection: TableConnection, holder: str) -> None:
    """Remove a holder, and those that were killed long ago."""
    connection.execute(
        "DELETE FROM record_holders WHERE id = ? OR seen_at < clock_timestamp() - make_interval(days => ?)",
        (holder, FORGOTTEN_DAYS),
    )


def release_record(connection: TableConnection, session_id: str, epoch: int) -> None:
    """Release a record so that others can claim it."""
    connection.execute(
        "UPDATE records SET holder = '' WHERE session_id = ? AND epoch = ?", (session_id, epoch)
    )
    connection.execute("SELECT announce_record(?)", (session_id,))


def add_to_record(
    connection: TableConnection, session_id: str, epoch: int, start: int, content: bytes
) -> Sending:
    """Append bytes to a claimed record, unless they were already appended and only the response was lost."""
    end = start + len(content)
    added = connection.execute(
        """UPDATE records SET size = ?, is_deleted = 0, changed_at = clock_timestamp()
           WHERE session_id = ? AND epoch = ? AND size = ?""",
        (end, session_id, epoch, start),
    )
    if not added.rowcount:
        row = connection.execute(
            "SELECT epoch, size FROM records WHERE session_id = ?", (session_id,)
        ).fetchone()
        return "sent" if row == (epoch, end) else "taken_over"
    extended = connection.execute(
        """UPDATE record_parts SET content = content || ?::bytea WHERE session_id = ?
           AND start = (SELECT MAX(start) FROM record_parts WHERE session_id = ?)
           AND octet_length(content) < ?""",
        (content, session_id, session_id, MAX_PART_BYTES),
    )
    if not extended.rowcount:
        connection.execute(
            "INSERT INTO record_parts (session_id, start, content) VALUES (?, ?, ?)",
            (session_id, start, content),
        )
    connection.execute("SELECT announce_record(?)", (session_id,))
    return "sent"


def read_record(connection: TableConnection, session_id: str, start: int = 0) -> bytes:
    """Return a record's bytes from an offset to the end."""
    rows = connection.execute(
        """SELECT start, content FROM record_parts
           WHERE session_id = ? AND start + octet_length(content) > ? ORDER BY start""",
        (session_id, start),
    ).fetchall()
    if not rows:
        return b""
    return b"".join(content for _, content in rows)[max(0, start - rows[0][0]) :]


def size_of_record(connection: TableConnection, session_id: str) -> int:
    """Return a record's stored size in bytes, or 0 for an unknown record."""
    row = connection.execute("SELECT size FROM records WHERE session_id = ?", (session_id,)).fetchone()
    return row[0] if row else 0


def is_held(connection: TableConnection, session_id: str, lease_s: float) -> bool:
    """Return whether a record is held by a process that was seen within a lease."""
    row = connection.execute(
        """SELECT 1 FROM records JOIN record_holders ON record_holders.id = holder
           WHERE session_id = ? AND seen_at > clock_timestamp() - make_interval(secs => ?)""",
        (session_id, lease_s),
    ).fetchone()
    return row is not None


def records_below(connection: TableConnection, session_id: str) -> list[str]:
    """Return the IDs of the records of a session and of its children."""
    rows = connection.execute(
        "SELECT session_id FROM records WHERE session_id = ? OR starts_with(session_id, ?) ORDER BY session_id",
        (session_id, f"{session_id}."),
    )
    return [row[0] for row in rows]


def records_since(connection: TableConnection, changed_at: float) -> list[RecordRow]:
    """Return the records that have changed since a time on the server's clock, the oldest change first."""
    rows = connection.execute(
        """SELECT session_id, size, is_deleted, EXTRACT(EPOCH FROM changed_at)::float8 FROM records
           WHERE changed_at > to_timestamp(?) ORDER BY changed_at""",
        (changed_at,),
    )
    return [RecordRow(id_, size, bool(is_deleted), at) for id_, size, is_deleted, at in rows]


def delete_records(connection: TableConnection, session_ids: Sequence[str]) -> None:
    """Delete records, fence their holders and notify other machines."""
    for session_id in session_ids:
        connection.execute("DELETE FROM record_parts WHERE session_id = ?", (session_id,))
        connection.execute(
            """UPDATE records SET is_deleted = 1, size = 0, epoch = epoch + 1, holder = '',
               changed_at = clock_timestamp() WHERE session_id = ? AND is_deleted = 0""",
            (session_id,),
        )
