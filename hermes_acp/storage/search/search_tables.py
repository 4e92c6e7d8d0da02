"""The tables of the search index, and how records are added to them.

Records are read incrementally: the text and the offset where it ended are committed together, so a process that
dies in between loses nothing. A passage's key holds its session's number in the upper bits and its position in the
lower ones, and numbers increase with the time a session started. Source: the FTS5 documentation, "External Content
Tables" and "Prefix Indexes".
"""

import os
from binascii import crc32
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hermes_acp.core.events import ArchiveChanged, Event, SessionOpened, TitleChanged
from hermes_acp.core.record.passages import Passage, PassageReader
from hermes_acp.storage.record_lines import decode_lines, time_before
from hermes_acp.storage.search.search_queries import separate_words

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
    # Add the time of each passage. All content is dropped, so that the records are read again.
    """ALTER TABLE passages ADD COLUMN at REAL;
    CREATE INDEX passages_at ON passages (at);
    INSERT INTO words (words) VALUES ('delete-all');
    DELETE FROM passages;
    DELETE FROM records""",
)
POSITION_BITS: Final = 24
LAST_POSITION: Final = (1 << POSITION_BITS) - 1
WORDS_CHARACTERS: Final = 32_768
OUTCOME_CHARACTERS: Final = 2_000
UNREADABLE: Final = -1
"""The size stored for an unreadable record: no record has this size, so each search tries again."""


class _Standing(Struct, frozen=True):
    """The index row of a record: its metadata, and how many bytes have been indexed."""

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


def place_of(cwd: str) -> str:
    """Return the word that marks the passages of a working directory.

    Collisions are rare. The word is searched like any other, because restricting it to its column would cost more than
    the search itself.
    """
    return f"qz{crc32(cwd.encode('utf-8', 'surrogatepass')):08x}"


def indexed_lengths(connection: "sqlite3.Connection") -> dict[str, int]:
    """Return how many bytes of each record have been read."""
    return dict(connection.execute("SELECT id, seen_bytes FROM records"))


def read_records(connection: "sqlite3.Connection", paths: list[Path]) -> dict[str, int]:
    """Index the new content of the given records, and return the size that each had when it was read."""
    seen: dict[str, int] = {}
    numbers = _UnusedNumbers(connection)
    for path in reversed(paths):
        try:
            status = path.stat()
        except OSError:
            drop_record(connection, path.stem)
            continue
        row = connection.execute("SELECT * FROM records WHERE id = ?", (path.stem,)).fetchone()
        standing = _Standing(*row) if row else None
        if standing and standing.seen_bytes == status.st_size:
            seen[path.stem] = status.st_size
            continue
        try:
            seen[path.stem] = _read_record(connection, path, standing, numbers)
        except OSError:
            seen[path.stem] = UNREADABLE
    return seen


def _read_record(
    connection: "sqlite3.Connection", path: Path, standing: _Standing | None, numbers: "_UnusedNumbers"
) -> int:
    """Continue reading a record, or start over if its file was replaced."""
    with path.open("rb") as stream:
        opened = next((event for event, _ in decode_lines(stream.readline())), None)
        if not isinstance(opened, SessionOpened):
            drop_record(connection, path.stem)
            return stream.seek(0, os.SEEK_END)
        size = stream.seek(0, os.SEEK_END)
        if standing and (standing.created_at != opened.created_at or size < standing.settled_bytes):
            drop_record(connection, path.stem)
            standing = None
        standing = standing or _beginning(path.stem, opened, numbers)
        stream.seek(standing.settled_bytes)
        content = stream.read()
        updated_at = os.fstat(stream.fileno()).st_mtime
    seen_bytes = standing.settled_bytes + len(content)
    _advance(connection, standing, content, updated_at, seen_bytes)
    return seen_bytes


class _UnusedNumbers:
    """Allocates the numbers of new records within one transaction, by start time.

    Records of the same second get consecutive numbers.
    """

    def __init__(self, connection: "sqlite3.Connection") -> None:
        self._connection = connection
        self._next: dict[int, int] = {}

    def take(self, created_at: float) -> int:
        """Return an unused number; `created_at` is in seconds since the epoch."""
        second = min(max(int(created_at), 1), (1 << 37))
        number = self._next.get(second, second)
        while self._connection.execute("SELECT 1 FROM records WHERE number = ?", (number,)).fetchone():
            number += 1
        self._next[second] = number + 1
        return number


def _beginning(session_id: str, opened: SessionOpened, numbers: _UnusedNumbers) -> _Standing:
    """Return the initial index row of an unread record."""
    number = numbers.take(opened.created_at)
    return _Standing(number, session_id, opened.cwd, "", False, opened.created_at, 0.0, 0, 0, 0)


def _advance(
    connection: "sqlite3.Connection", standing: _Standing, content: bytes, updated_at: float, seen_bytes: int
) -> None:
    reader = PassageReader(standing.settled_position)
    title, is_archived = standing.title, standing.is_archived
    settled_bytes, settled_position = standing.settled_bytes, standing.settled_position
    event: Event
    for event, end in decode_lines(content, before=None):
        reader.take(event, time_before(content, end))
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
    rows: list[tuple[int, str, str, str, float | None]] = []
    for passage in sorted(passages, key=lambda passage: passage.position):
        longest = OUTCOME_CHARACTERS if passage.speaker == "tool" else WORDS_CHARACTERS
        if passage.text and passage.position <= LAST_POSITION:
            key = number << POSITION_BITS | passage.position
            rows.append((key, passage.speaker, place, separate_words(passage.text[:longest]), passage.at))
    connection.executemany(
        "INSERT INTO passages (key, speaker, place, text, at) VALUES (?, ?, ?, ?, ?)", rows
    )
    connection.executemany(
        "INSERT INTO words (rowid, text, place) VALUES (?, ?, ?)",
        [(key, text, place) for key, _, place, text, _ in rows],
    )


def _remove(connection: "sqlite3.Connection", number: int, first: int, last: int = LAST_POSITION) -> None:
    span = (number << POSITION_BITS | first, number << POSITION_BITS | last)
    connection.execute(
        """INSERT INTO words (words, rowid, text, place)
           SELECT 'delete', key, text, place FROM passages WHERE key BETWEEN ? AND ?""",
        span,
    )
    connection.execute("DELETE FROM passages WHERE key BETWEEN ? AND ?", span)


def drop_record(connection: "sqlite3.Connection", session_id: str) -> None:
    """Drop a record if it is indexed."""
    if row := connection.execute("SELECT number FROM records WHERE id = ?", (session_id,)).fetchone():
        _remove(connection, row[0], 0)
        connection.execute("DELETE FROM records WHERE number = ?", row)


def empty(connection: "sqlite3.Connection") -> None:
    """Drop all records."""
    connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
    connection.execute("DELETE FROM passages")
    connection.execute("DELETE FROM records")
