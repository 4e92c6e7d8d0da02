"""The boards of a profile in Postgres, for any number of machines; implements `BoardLogs` and `BoardLog`."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from anyio.to_thread import run_sync

from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.boards.board_ports import BoardLog
from hermes_acp.core.ports.boards.card_events import Draft, LogEntry
from hermes_acp.runs.board.board_rules import check_board_name, no_board
from hermes_acp.runs.board.file_log import archive_board
from hermes_acp.runs.board.log_lines import decode_line, encode_line
from hermes_acp.runs.fleet.boards import board_tables as tables
from hermes_acp.runs.fleet.boards.board_notices import BoardNotices
from hermes_acp.runs.fleet.postgres_database import PostgresDatabase, place_of
from hermes_acp.runs.tables.table_connection import TableConnection

DAMAGED: Final = "Entry {number} of the board {name!r} in the fleet's database {place} is damaged."
DAMAGED_HINT: Final = "Restore the table board_entries from a backup."
NumberedLine = tuple[int, str]


class PostgresBoardLog:
    """The log of one board."""

    def __init__(self, database: PostgresDatabase, notices: BoardNotices, name: str) -> None:
        """Connect on first use."""
        self._database = database
        self._notices = notices
        self._name = name

    async def read(self, after: int = 0) -> Sequence[LogEntry]:
        """Return the entries after the given number, oldest first. Raises StorageError or BadRequest."""

        def read(connection: TableConnection) -> list[NumberedLine]:
            return tables.entries_after(connection, self._found(connection), after)

        lines = await self._database.read(read)
        return [self._decoded(*each) for each in lines]

    async def append(self, drafts: Sequence[Draft], *, expected: int, at: float) -> Sequence[LogEntry] | None:
        """Append entries after entry `expected`; return None if that is not the last one. Raises StorageError.

        A commit that was reported as failed is looked up, so entries are never lost or appended twice.
        """
        entries = [
            LogEntry(expected + place, at, each.by, each.event) for place, each in enumerate(drafts, 1)
        ]
        lines = [(each.number, _line_of(each)) for each in entries]
        append = partial(self._append, lines=lines, expected=expected)
        try:
            is_added = await self._database.write(append)
        except StorageError:
            is_added = await self._database.write(partial(append, may_exist=True))
        return entries if is_added else None

    async def wait(self, after: int) -> None:
        """Wait until there may be an entry after the given number. Raises BadRequest."""

        async def has_more() -> bool:
            return (await self._database.read(self._found)).last > after

        await self._notices.until(has_more)

    def _append(
        self,
        connection: TableConnection,
        lines: list[NumberedLine],
        expected: int,
        *,
        may_exist: bool = False,
    ) -> bool:
        """Append lines to the board; return whether they are in it."""
        board = self._found(connection, locks=True)
        if board.last == expected:
            tables.add_entries(connection, self._name, board, lines)
            return True
        return may_exist and tables.entries_after(connection, board, expected)[: len(lines)] == lines

    def _found(self, connection: TableConnection, *, locks: bool = False) -> tables.BoardRow:
        """Return the board. Raises BadRequest."""
        if board := tables.find_board(connection, self._name, locks=locks):
            return board
        raise no_board(self._name)

    def _decoded(self, number: int, line: str) -> LogEntry:
        entry = decode_line(line.encode())
        if entry is None or entry.number != number:
            place = place_of(self._database.uri)
            raise StorageError(DAMAGED.format(number=number, name=self._name, place=place), hint=DAMAGED_HINT)
        return entry


class PostgresBoardLogs:
    """The boards of one schema. `folder` contains the copies of their cards on this machine."""

    is_shared = True

    def __init__(self, database: PostgresDatabase, folder: Path) -> None:
        """Connect on first use."""
        self.folder = folder
        self._database = database
        self._notices = BoardNotices(database)

    async def names(self) -> Sequence[str]:
        """Return the names of all boards, sorted. Raises StorageError."""
        return sorted(await self._database.read(tables.last_numbers))

    async def create(self, name: str) -> bool:
        """Create a board; return False if it already exists. Raises BadRequest or StorageError."""
        check_board_name(name)
        return await self._database.write(partial(tables.insert_board, name=name))

    async def remove(self, name: str) -> None:
        """Remove a board from the list, and archive its files on this machine. Raises BadRequest or StorageError."""
        check_board_name(name)
        if not await self._database.write(partial(tables.remove_board, name=name)):
            raise no_board(name)
        await run_sync(archive_board, self.folder, name)

    async def adopt(self, name: str, lines: Sequence[NumberedLine]) -> bool:
        """Fill a new or empty board with the lines of a log file. Raises BadRequest or StorageError.

        Returns whether the board starts with exactly these lines, whether they were added now or by an earlier call.
        """
        check_board_name(name)
        listed = list(lines)

        def adopt(connection: TableConnection) -> bool:
            tables.insert_board(connection, name)
            board = tables.find_board(connection, name, locks=True)
            assert board, "it was just created or found"
            if board.last == 0 and listed:
                tables.add_entries(connection, name, board, listed)
            return tables.entries_after(connection, board, 0)[: len(listed)] == listed

        return await self._database.write(adopt)

    def open(self, name: str) -> BoardLog:
        """Return a board's log. Raises BadRequest."""
        check_board_name(name)
        return PostgresBoardLog(self._database, self._notices, name)

    async def wait(self, known: Mapping[str, int], ignored: Collection[str] = ()) -> None:
        """Wait until a board may have an entry after its number in `known`, or was added or removed."""

        async def has_changed() -> bool:
            found = await self._database.read(tables.last_numbers)
            numbers = {name: last for name, last in found.items() if name not in ignored}
            return numbers.keys() != known.keys() or any(numbers[name] > known[name] for name in known)

        await self._notices.until(has_changed)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._notices.close()
        await self._database.aclose()


def _line_of(entry: LogEntry) -> str:
    return encode_line(entry.number, entry.at, entry.by, entry.event).decode().rstrip("\n")
