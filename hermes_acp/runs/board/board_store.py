"""A board in one process: built once, then updated from its log.

A snapshot next to the log saves new processes from reading all of it. It can be deleted at any time.
"""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import msgspec
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.boards.board_ports import BoardLog
from hermes_acp.core.ports.boards.card_events import Draft, LogEntry
from hermes_acp.core.ports.boards.cards import BoardSettings, Card, LinkKind, Spending
from hermes_acp.runs.board.board_fold import Board, RemovedCard, fold
from hermes_acp.storage.private_files import write_whole

FORMAT: Final = 1
SNAPSHOT_AFTER: Final = 1000
"""The number of entries after a snapshot before the next one is stored."""
MAX_SNAPSHOT_BYTES: Final = 256 << 20


class BoardSnapshot(Struct, array_like=True):
    """A board after an entry of its log.

    `at` is that entry's time, by which a snapshot of a different log is detected.
    """

    format: int
    number: int
    at: float
    cards: dict[str, Card]
    removed: dict[str, tuple[Card, tuple[tuple[LinkKind, str], ...]]]
    changed: dict[str, int]
    settings: BoardSettings
    spent: Spending
    highest: int


class BoardStore:
    """A board, in its state after the last entry that was read."""

    def __init__(self, log: BoardLog, snapshot: Path | None = None) -> None:
        """Store the arguments; nothing is read yet."""
        self.log = log
        self._snapshot = snapshot
        self._board = Board()
        self._is_read = False
        self._last_at = 0.0
        self._stored = 0
        self._lock = anyio.Lock()

    async def current(self) -> Board:
        """Return the board as of the last entry in its log. Raises StorageError or BadRequest."""
        async with self._lock:
            if self._is_read:
                await self._read_on()
            else:
                await self._first_read()
            return self._board

    async def append(self, board: Board, drafts: Sequence[Draft], at: float) -> Board | None:
        """Append entries to the log from which `board` was built.

        Returns None if others have appended since. Raises StorageError or BadRequest.
        """
        entries = await self.log.append(drafts, expected=board.number, at=at)
        if entries is None:
            return None
        async with self._lock:
            if self._board is board:
                await self._take(entries)
                return self._board
        return await self.current()

    async def entries(self, after: int) -> Sequence[LogEntry]:
        """Return the entries after the given number. Raises StorageError or BadRequest."""
        return await self.log.read(after)

    async def _first_read(self) -> None:
        self._board, self._last_at = Board(), 0.0
        loaded = await run_sync(self._load) if self._snapshot else None
        tail = await self.log.read(loaded.number - 1 if loaded else 0)
        if loaded and not (tail and (tail[0].number, tail[0].at) == (loaded.number, loaded.at)):
            loaded, tail = None, await self.log.read(0)
        if loaded:
            self._board, self._last_at, tail = _board_of(loaded), loaded.at, tail[1:]
        self._stored = self._board.number
        self._is_read = True
        await self._take(tail)

    async def _read_on(self) -> None:
        """Read the new entries, or the whole log if the board was removed and created again in the meantime."""
        number = self._board.number
        tail = await self.log.read(max(0, number - 1))
        if number == 0:
            await self._take(tail)
        elif tail and (tail[0].number, tail[0].at) == (number, self._last_at):
            await self._take(tail[1:])
        else:
            await self._first_read()

    async def _take(self, entries: Sequence[LogEntry]) -> None:
        if not entries:
            return
        if len(entries) < SNAPSHOT_AFTER:
            self._board = fold(self._board, entries)
        else:
            self._board = await run_sync(fold, self._board, entries)
        self._last_at = entries[-1].at
        if self._snapshot and self._board.number - self._stored >= SNAPSHOT_AFTER:
            self._stored = self._board.number
            await run_sync(self._save, self._board, self._last_at)

    def _load(self) -> BoardSnapshot | None:
        assert self._snapshot
        try:
            content = self._snapshot.read_bytes()
            loaded = msgspec.msgpack.decode(content, type=BoardSnapshot)
        except (OSError, msgspec.DecodeError):
            return None
        return loaded if loaded.format == FORMAT and loaded.number > 0 else None

    def _save(self, board: Board, at: float) -> None:
        assert self._snapshot
        snapshot = BoardSnapshot(
            FORMAT,
            board.number,
            at,
            dict(board.cards),
            {key: (each.card, tuple(each.incoming)) for key, each in board.removed.items()},
            dict(board.changed),
            board.settings,
            board.spent,
            board.highest,
        )
        with suppress(OSError, StorageError):
            write_whole(self._snapshot, msgspec.msgpack.encode(snapshot), mode=0o600)


def _board_of(snapshot: BoardSnapshot) -> Board:
    incoming: dict[str, set[tuple[LinkKind, str]]] = {}
    for card in snapshot.cards.values():
        for link in card.links:
            incoming.setdefault(link.card_id, set()).add((link.kind, card.id))
    return Board(
        snapshot.number,
        snapshot.cards,
        {key: RemovedCard(card, frozenset(links)) for key, (card, links) in snapshot.removed.items()},
        snapshot.changed,
        {key: frozenset(links) for key, links in incoming.items()},
        snapshot.settings,
        snapshot.spent,
        snapshot.highest,
    )
