"""Move boards from files in a home folder to the fleet's database."""

from collections.abc import Sequence
from typing import Final

import anyio
from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.boards.card_events import CardMoved
from hermes_acp.core.ports.boards.cards import ENGINE
from hermes_acp.runs.board.board_decisions import detached
from hermes_acp.runs.board.board_fold import Board, fold
from hermes_acp.runs.board.file_log import FileBoardLogs
from hermes_acp.runs.board.log_lines import decode_line, encode_line
from hermes_acp.runs.fleet.boards.postgres_boards import NumberedLine, PostgresBoardLogs
from hermes_acp.runs.fleet.boards.shared_boards import share_boards

EXISTS: Final = "The fleet already has a board {name!r} with other cards."
RENAME_HINT: Final = "To import it under another name, rename its folder, {folder}."


class ImportedBoard(Struct, frozen=True):
    """An imported board: its number of cards, and the cards parked because their runs were not imported."""

    name: str
    cards: int
    parked: tuple[str, ...] = ()


async def import_board(files: FileBoardLogs, shared: PostgresBoardLogs, name: str) -> ImportedBoard:
    """Move one board. Its file is locked, and is moved aside once the database contains everything.

    Idempotent, even after an interruption. Raises BadRequest or StorageError.
    """
    async with files.open(name).handing_over() as lines:
        entries = [entry for _, line in lines if (entry := decode_line(line.encode()))]
        board = fold(Board(), entries)
        events = detached(board)
        at = entries[-1].at if entries else 0.0
        added: list[NumberedLine] = [
            (number, encode_line(number, at, ENGINE, event).decode().rstrip("\n"))
            for number, event in enumerate(events, board.number + 1)
        ]
        if not await shared.adopt(name, [*lines, *added]):
            raise BadRequest(EXISTS.format(name=name), hint=RENAME_HINT.format(folder=files.place(name)))
    parked = tuple(each.card_id for each in events if isinstance(each, CardMoved))
    return ImportedBoard(name, len(board.cards), parked)


async def import_boards(environment: Environment, names: Sequence[str]) -> list[ImportedBoard]:
    """Move the named boards of a home folder, or all of them. Raises BadRequest, ConfigError or StorageError."""
    folder = environment.home / "boards"
    files, shared = FileBoardLogs(folder), share_boards(environment, folder)
    try:
        return [await import_board(files, shared, name) for name in names or await files.names()]
    finally:
        with anyio.CancelScope(shield=True):
            await shared.aclose()
