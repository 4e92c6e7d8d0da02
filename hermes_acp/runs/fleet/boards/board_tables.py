"""SQL statements for shared boards and their entries.

An entry is stored as the line that it would have in a board's log file (`runs.board.log_lines`). `last` is the number
of a board's last entry; whoever appends must first lock the board's row. The rows of a removed board are kept.
"""

from collections.abc import Sequence

from msgspec import Struct

from hermes_acp.runs.tables.table_connection import TableConnection


class BoardRow(Struct, frozen=True):
    """A board: its ID, which no other board has ever had, and the number of its last entry."""

    id: int
    last: int


def insert_board(connection: TableConnection, name: str) -> bool:
    """Create a board; return whether it is new."""
    added = connection.execute(
        "INSERT INTO boards (name) VALUES (?) ON CONFLICT (name) WHERE removed_at IS NULL DO NOTHING", (name,)
    )
    announce_board(connection, name)
    return bool(added.rowcount)


def remove_board(connection: TableConnection, name: str) -> bool:
    """Remove a board from the list; return whether it existed."""
    removed = connection.execute(
        "UPDATE boards SET removed_at = clock_timestamp() WHERE name = ? AND removed_at IS NULL", (name,)
    )
    announce_board(connection, name)
    return bool(removed.rowcount)


def find_board(connection: TableConnection, name: str, *, locks: bool = False) -> BoardRow | None:
    """Return a board, or None; with `locks`, nobody else can append to it until the transaction ends."""
    row = connection.execute(
        f"SELECT id, last FROM boards WHERE name = ? AND removed_at IS NULL{' FOR UPDATE' if locks else ''}",
        (name,),
    ).fetchone()
    return BoardRow(*row) if row else None


def last_numbers(connection: TableConnection) -> dict[str, int]:
    """Return the number of the last entry of each board."""
    rows = connection.execute("SELECT name, last FROM boards WHERE removed_at IS NULL ORDER BY name")
    return dict(rows)


def entries_after(connection: TableConnection, board: BoardRow, after: int) -> list[tuple[int, str]]:
    """Return the numbers and lines of a board's entries after the given number."""
    return connection.execute(
        "SELECT number, line FROM board_entries WHERE board_id = ? AND number > ? ORDER BY number",
        (board.id, after),
    ).fetchall()


def add_entries(
    connection: TableConnection, name: str, board: BoardRow, lines: Sequence[tuple[int, str]]
) -> None:
    """Append numbered lines to a locked board, and announce them."""
    numbers, texts = zip(*lines, strict=True)
    connection.execute(
        """INSERT INTO board_entries (board_id, number, line)
           SELECT ?, number, line FROM unnest(?::bigint[], ?::text[]) AS added (number, line)""",
        (board.id, list(numbers), list(texts)),
    )
    connection.execute("UPDATE boards SET last = ? WHERE id = ?", (numbers[-1], board.id))
    announce_board(connection, name)


def announce_board(connection: TableConnection, name: str) -> None:
    """Wake up everyone who waits for changes to a board, once the transaction is committed."""
    connection.execute("SELECT announce_board(?)", (name,))
