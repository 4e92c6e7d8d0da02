"""What was ever said in the sessions of one home, to be searched.

Knows: the full-text index, how far it has read each record, how finds are ranked. Does not know: how a query is
written (`queries`), what events amount to (`core.passages`).
The index lies in a file of its own, so that filling it never keeps the list of sessions waiting. It follows the
records by their bytes: what was read and where that ended is committed together, so a process that dies in between
loses nothing, and whatever another process wrote is read at the next search.

A passage's key holds its session's number in the upper bits and its place in the lower ones, and numbers grow with
the time a session began. So the index itself yields the newest finds first, the best of the newest `CANDIDATES` can be
picked by rank (`ranking`), and a word that is everywhere costs no more than one that is rare.
Source: the FTS5 documentation, "External Content Tables" and "Prefix Indexes".
"""

import os
import stat
import time
from binascii import crc32
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
from msgspec import Struct

from hermes_acp.core.events import ArchiveChanged, Event, SessionOpened, TitleChanged
from hermes_acp.core.exchanges import Find, Finds, RecallQuery
from hermes_acp.core.passages import Passage, PassageReader
from hermes_acp.core.terms import Speaker
from hermes_acp.storage.database import Damaged, Database
from hermes_acp.storage.lines import decode_lines
from hermes_acp.storage.queries import Query, parse, snippet, spaced
from hermes_acp.storage.ranking import relevances
from hermes_acp.storage.scattered import Span, find_scattered

if TYPE_CHECKING:
    import sqlite3

MIGRATIONS = (
    """CREATE TABLE records (
        number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, cwd TEXT NOT NULL, title TEXT NOT NULL,
        is_archived INTEGER NOT NULL, created_at REAL NOT NULL, updated_at REAL NOT NULL,
        seen_bytes INTEGER NOT NULL, settled_bytes INTEGER NOT NULL, settled_position INTEGER NOT NULL
    ) STRICT;
    CREATE TABLE passages (
        key INTEGER PRIMARY KEY, speaker TEXT NOT NULL, place TEXT NOT NULL, text TEXT NOT NULL
    ) STRICT;
    CREATE VIRTUAL TABLE words USING fts5(
        text, place, content = 'passages', content_rowid = 'key', prefix = '2 3 4',
        tokenize = 'unicode61 remove_diacritics 2'
    )""",
)
POSITION_BITS: Final = 24
LAST_POSITION: Final = (1 << POSITION_BITS) - 1
CANDIDATES: Final = 300
MOST_OF_ONE_SESSION: Final = 3
WORDS_CHARACTERS: Final = 32_768
OUTCOME_CHARACTERS: Final = 2_000
HALF_LIFE_S: Final = 30 * 86_400.0
CACHE_KIB: Final = 32 * 1024
BATCH_BYTES: Final = 4 * 1024 * 1024
SCANNING_SHARE: Final = 50
FREE_SCAN_S: Final = 0.004
UNREADABLE: Final = -1
"""The length of a record that could not be read: no record has it, so each search tries again."""


class _Standing(Struct, frozen=True):
    """How far one record has been read."""

    number: int
    id: str
    cwd: str
    title: str
    is_archived: bool
    created_at: float
    updated_at: float
    seen_bytes: int
    settled_bytes: int
    settled_position: int


class SearchIndex:
    """The words of all sessions of one home folder."""

    def __init__(self, home: Path, folder: Path) -> None:
        """Open nothing yet; `folder` holds the records."""
        self._folder = folder
        self.database = Database(home / "search.db", MIGRATIONS, cache_kib=CACHE_KIB)
        self._seen: dict[str, int] | None = None
        self._waiting: dict[str, int] = {}
        self._scan_again_at = 0.0

    async def search(self, asked: RecallQuery) -> Finds:
        """Find passages, the best first, after reading what is new for at most `asked.patience_s` seconds.

        Raises BadRequest for a query without a word, StorageTrouble.
        """
        query = parse(asked.text)
        try:
            return await self._search(asked, query)
        except Damaged:
            self.forget()
            return await self._search(asked, query)

    async def _search(self, asked: RecallQuery, query: Query) -> Finds:
        unread = await self.catch_up(asked.patience_s)
        now = time.time()
        finds = await self.database.read(lambda connection: _select(connection, asked, query, now))
        return Finds(tuple(finds), unread)

    async def catch_up(self, patience_s: float | None = None) -> int:
        """Read what was written since, the newest records first; give how many records are left for next time."""
        from anyio import to_thread

        give_up_at = time.monotonic() + (float("inf") if patience_s is None else patience_s)
        if self._seen is None:
            self._seen = await self.database.read(_seen_bytes)
            self._scan_again_at = 0.0
        if time.monotonic() >= self._scan_again_at:
            await to_thread.run_sync(self._scan, self._seen)
        if self.database.is_frozen:
            return len(self._waiting)
        while self._waiting and time.monotonic() < give_up_at:
            batch = self._next_batch()
            seen = await self.database.run(lambda connection, ids=batch: _read_records(connection, ids))
            for path in batch:
                self._waiting.pop(path.stem, None)
            self._seen |= seen
        return len(self._waiting)

    def _scan(self, seen: Mapping[str, int]) -> None:
        """Look which records have another length than when they were read, and which are gone."""
        begun = time.monotonic()
        changed: list[tuple[float, str, int]] = []
        found: set[str] = set()
        if self._folder.is_dir():
            with os.scandir(self._folder) as entries:
                for entry in entries:
                    name = entry.name
                    if not name.endswith(".jsonl"):
                        continue
                    session_id = name[:-6]
                    try:
                        status = entry.stat()
                    except OSError:
                        continue  # gone by now, or a link to nowhere
                    if not stat.S_ISREG(status.st_mode):
                        continue
                    found.add(session_id)
                    if seen.get(session_id) != status.st_size:
                        changed.append((-status.st_mtime, session_id, status.st_size))
        self._waiting = {session_id: size for _, session_id, size in sorted(changed)}
        self._waiting |= dict.fromkeys(seen.keys() - found, 0)
        cost_s = time.monotonic() - begun
        self._scan_again_at = begun + (cost_s * SCANNING_SHARE if cost_s > FREE_SCAN_S else 0.0)

    def _next_batch(self) -> list[Path]:
        """Take records worth a moment of reading. They are read in the order of their numbers as far as possible."""
        batch: list[Path] = []
        size_bytes = 0
        for session_id, size in self._waiting.items():
            if batch and size_bytes + size > BATCH_BYTES:
                break
            size_bytes += size
            batch.append(self._folder / f"{session_id}.jsonl")
        return batch

    async def follow(self, session_id: str) -> None:
        """Read what one record has gained. Raises StorageTrouble."""
        path = self._folder / f"{session_id}.jsonl"
        seen = await self.database.run(lambda connection: _read_records(connection, [path]))
        if self._seen is not None:
            self._seen |= seen

    async def forget_session(self, session_id: str) -> None:
        """Leave out a session that was deleted. Raises StorageTrouble."""
        await self.database.run(lambda connection: _drop(connection, session_id))
        if self._seen is not None:
            self._seen.pop(session_id, None)

    async def rebuild(self) -> None:
        """Forget everything and read all records anew. Raises StorageTrouble."""
        with suppress(Damaged):  # a fresh file is as empty
            await self.database.run(_empty)
        self.forget()
        await self.catch_up()

    def forget(self) -> None:
        """Ask the file anew how far the records were read."""
        self._seen = None

    def news(self) -> list[str]:
        """Give sentences the user should read, each once."""
        return self.database.news()

    def close(self) -> None:
        """Close the index."""
        self.database.close()


def place_of(cwd: str) -> str:
    """Give the word that marks the passages of one working directory, and hardly ever those of another.

    It is looked for like any other word: looking in one column only would cost more than all the rest.
    """
    return f"qz{crc32(cwd.encode('utf-8', 'surrogatepass')):08x}"


def _seen_bytes(connection: "sqlite3.Connection") -> dict[str, int]:
    return dict(connection.execute("SELECT id, seen_bytes FROM records"))


def _select(connection: "sqlite3.Connection", asked: RecallQuery, query: Query, now: float) -> list[Find]:
    left_out = connection.execute("SELECT number FROM records WHERE id = ?", (asked.leaves_out,)).fetchone()
    place = "" if asked.cwd is None else place_of(asked.cwd)
    span = Span(place, left_out[0] if left_out else -1, POSITION_BITS)
    keys = span.newest(connection, query.expression(), CANDIDATES)
    sessions = _sessions_of(connection, {key >> POSITION_BITS for key in keys})
    ranked: list[tuple[float, int]] = []
    for key, relevance in relevances(connection, query, keys, POSITION_BITS).items():
        cwd, updated_at = sessions.get(key >> POSITION_BITS, ("", 0.0))
        if asked.cwd in (None, cwd):
            age_s = max(0.0, now - updated_at)
            ranked.append((-relevance * (1.0 + 0.5 ** (age_s / HALF_LIFE_S)), -key))
    best = _best(ranked, asked.limit)
    scattered = find_scattered(connection, query, span, keys, asked.limit - len(best))
    finds = [_find(connection, key, query) for key in (*best, *scattered)]
    return [find for find in finds if asked.cwd in (None, find.cwd)]


def _sessions_of(connection: "sqlite3.Connection", numbers: set[int]) -> dict[int, tuple[str, float]]:
    """Give the working directory and the time of sessions by their numbers."""
    rows = connection.execute(
        "SELECT number, cwd, updated_at FROM records WHERE number IN (SELECT value FROM json_each(?))",
        (msgspec.json.encode(list(numbers)).decode(),),
    )
    return {number: (cwd, updated_at) for number, cwd, updated_at in rows}


def _best(ranked: list[tuple[float, int]], limit: int) -> list[int]:
    """Pick the best keys, not too many of one session; a title only where it is all that was found of it."""
    counts: dict[int, int] = {}
    for _, key in ranked:
        counts[-key >> POSITION_BITS] = counts.get(-key >> POSITION_BITS, 0) + 1
    taken: dict[int, int] = {}
    best: list[int] = []
    for _, negative in sorted(ranked):
        key = -negative
        number = key >> POSITION_BITS
        is_title = key & LAST_POSITION == 0
        if taken.get(number, 0) >= MOST_OF_ONE_SESSION or (is_title and counts[number] > 1):
            continue
        taken[number] = taken.get(number, 0) + 1
        best.append(key)
        if len(best) == limit:
            break
    return best


def _find(connection: "sqlite3.Connection", key: int, query: Query) -> Find:
    speaker: Speaker
    speaker, text, session_id, title, cwd, updated_at = connection.execute(
        """SELECT speaker, text, id, title, cwd, updated_at FROM passages JOIN records ON number = ?
           WHERE key = ?""",
        (key >> POSITION_BITS, key),
    ).fetchone()
    position = key & LAST_POSITION
    return Find(session_id, title, cwd, updated_at, position, speaker, snippet(text, query))


def _read_records(connection: "sqlite3.Connection", paths: list[Path]) -> dict[str, int]:
    """Bring the index up to date with some records; give the length each had when it was read."""
    seen: dict[str, int] = {}
    for path in reversed(paths):
        try:
            status = path.stat()
        except OSError:
            _drop(connection, path.stem)
            continue
        row = connection.execute("SELECT * FROM records WHERE id = ?", (path.stem,)).fetchone()
        standing = _Standing(*row) if row else None
        if standing and standing.seen_bytes == status.st_size:
            seen[path.stem] = status.st_size
            continue
        try:
            seen[path.stem] = _read_record(connection, path, standing)
        except OSError:
            seen[path.stem] = UNREADABLE
    return seen


def _read_record(connection: "sqlite3.Connection", path: Path, standing: _Standing | None) -> int:
    """Read on from where a record was settled, and anew where it is another record by the same name."""
    with path.open("rb") as stream:
        opened = next((event for event, _ in decode_lines(stream.readline())), None)
        if not isinstance(opened, SessionOpened):
            _drop(connection, path.stem)
            return stream.seek(0, os.SEEK_END)
        size = stream.seek(0, os.SEEK_END)
        if standing and (standing.created_at != opened.created_at or size < standing.settled_bytes):
            _drop(connection, path.stem)
            standing = None
        standing = standing or _beginning(connection, path.stem, opened)
        stream.seek(standing.settled_bytes)
        content = stream.read()
        updated_at = os.fstat(stream.fileno()).st_mtime
    seen_bytes = standing.settled_bytes + len(content)
    _advance(connection, standing, content, updated_at, seen_bytes)
    return seen_bytes


def _beginning(connection: "sqlite3.Connection", session_id: str, opened: SessionOpened) -> _Standing:
    """Give a record a number by the time it began that no other has."""
    number = min(max(int(opened.created_at), 1), (1 << 37))
    while connection.execute("SELECT 1 FROM records WHERE number = ?", (number,)).fetchone():
        number += 1
    return _Standing(number, session_id, opened.cwd, "", False, opened.created_at, 0.0, 0, 0, 0)


def _advance(
    connection: "sqlite3.Connection", standing: _Standing, content: bytes, updated_at: float, seen_bytes: int
) -> None:
    reader = PassageReader(standing.settled_position)
    title, is_archived = standing.title, standing.is_archived
    settled_bytes, settled_position = standing.settled_bytes, standing.settled_position
    event: Event
    for event, end in decode_lines(content, before=None):
        reader.take(event)
        if isinstance(event, TitleChanged):
            title = event.title
        elif isinstance(event, ArchiveChanged):
            is_archived = event.is_archived
        if reader.is_settled:
            settled_bytes, settled_position = standing.settled_bytes + end, reader.position
    _remove(connection, standing.number, standing.settled_position + 1)
    passages = [*reader.finished, *reader.unfinished()]
    if title != standing.title:
        _remove(connection, standing.number, 0, 0)
        passages.insert(0, Passage(0, "title", title))
    _add(connection, standing.number, place_of(standing.cwd), passages)
    connection.execute(
        "INSERT OR REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            standing.number, standing.id, standing.cwd, title, is_archived, standing.created_at,
            updated_at, seen_bytes, settled_bytes, settled_position,
        ),
    )  # fmt: skip


def _add(connection: "sqlite3.Connection", number: int, place: str, passages: list[Passage]) -> None:
    rows: list[tuple[int, str, str, str]] = []
    for passage in sorted(passages, key=lambda passage: passage.position):
        longest = OUTCOME_CHARACTERS if passage.speaker == "tool" else WORDS_CHARACTERS
        if passage.text and passage.position <= LAST_POSITION:
            key = number << POSITION_BITS | passage.position
            rows.append((key, passage.speaker, place, spaced(passage.text[:longest])))
    connection.executemany("INSERT INTO passages VALUES (?, ?, ?, ?)", rows)
    connection.executemany(
        "INSERT INTO words (rowid, text, place) VALUES (?, ?, ?)",
        [(key, text, place) for key, _, place, text in rows],
    )


def _remove(connection: "sqlite3.Connection", number: int, first: int, last: int = LAST_POSITION) -> None:
    span = (number << POSITION_BITS | first, number << POSITION_BITS | last)
    connection.execute(
        """INSERT INTO words (words, rowid, text, place)
           SELECT 'delete', key, text, place FROM passages WHERE key BETWEEN ? AND ?""",
        span,
    )
    connection.execute("DELETE FROM passages WHERE key BETWEEN ? AND ?", span)


def _drop(connection: "sqlite3.Connection", session_id: str) -> None:
    if row := connection.execute("SELECT number FROM records WHERE id = ?", (session_id,)).fetchone():
        _remove(connection, row[0], 0)
        connection.execute("DELETE FROM records WHERE number = ?", row)


def _empty(connection: "sqlite3.Connection") -> None:
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    connection.execute("DELETE FROM passages")
    connection.execute("DELETE FROM records")
