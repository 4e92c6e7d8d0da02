"""Full-text search over all sessions of a home folder.

The index is a separate file, so that filling it never delays the session list; what other processes wrote is
indexed at the next search. Its keys yield the newest matches first. Only the newest `CANDIDATES` matches are ranked
(`search_ranking`), so a very common word costs no more than a rare one.
"""

import os
import stat
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from hermes_acp.core.event_types import Speaker
from hermes_acp.core.ports.recall_ports import RecallQuery, SearchHit, SearchResults
from hermes_acp.storage.search.cross_passage_search import SearchSpan, find_across_passages
from hermes_acp.storage.search.database import Database, DatabaseDamaged
from hermes_acp.storage.search.partial_matches import find_partial_matches
from hermes_acp.storage.search.search_queries import SearchExpression, excerpt, parse, snippet
from hermes_acp.storage.search.search_ranking import relevances
from hermes_acp.storage.search.search_tables import (
    LAST_POSITION,
    MIGRATIONS,
    POSITION_BITS,
    drop_record,
    empty,
    indexed_lengths,
    place_of,
    read_records,
)
from hermes_acp.storage.search.search_window import requests_within, window_of

if TYPE_CHECKING:
    import sqlite3

CANDIDATES: Final = 300
MAX_PER_SESSION: Final = 3
HALF_LIFE_S: Final = 30 * 86_400.0
SOME_WORDS: Final = "The last {count} contain only some of the words."
CACHE_KIB: Final = 32 * 1024
BATCH_BYTES: Final = 4 * 1024 * 1024
SCANNING_SHARE: Final = 50
FREE_SCAN_S: Final = 0.004


class SearchIndex:
    """The full-text index of all sessions of a home folder."""

    def __init__(self, home: Path, folder: Path) -> None:
        """Open nothing until first use; `folder` contains the records."""
        self._folder = folder
        self.database = Database(home / "search.db", MIGRATIONS, cache_kib=CACHE_KIB)
        self._seen: dict[str, int] | None = None
        self._waiting: dict[str, int] = {}
        self._scan_again_at = 0.0

    async def search(self, asked: RecallQuery) -> SearchResults:
        """Find passages, best first, after indexing new content for at most `asked.max_wait_s` seconds.

        Raises BadRequest for a query with neither words nor dates, or StorageError.
        """
        query = None if asked.has_dates and not asked.text.strip() else parse(asked.text)
        try:
            return await self._search(asked, query)
        except DatabaseDamaged:
            self.forget()
            return await self._search(asked, query)

    async def _search(self, asked: RecallQuery, query: SearchExpression | None) -> SearchResults:
        unread = await self.catch_up(asked.max_wait_s)
        now = time.time()
        if query is None:
            return await self.database.read(lambda connection: _list(connection, asked, unread))
        return await self.database.read(lambda connection: _select(connection, asked, query, now, unread))

    async def catch_up(self, max_wait_s: float | None = None) -> int:
        """Index new content, newest records first; return how many records are left for the next time."""
        from anyio import to_thread

        give_up_at = time.monotonic() + (float("inf") if max_wait_s is None else max_wait_s)
        if self._seen is None:
            self._seen = await self.database.read(indexed_lengths)
            self._scan_again_at = 0.0
        if time.monotonic() >= self._scan_again_at:
            await to_thread.run_sync(self._scan, self._seen)
        if self.database.is_frozen:
            return len(self._waiting)
        while self._waiting and time.monotonic() < give_up_at:
            batch = self._next_batch()
            await self._read(batch)
            for path in batch:
                self._waiting.pop(path.stem, None)
        return len(self._waiting)

    def _scan(self, seen: Mapping[str, int]) -> None:
        """Find the records whose size has changed since they were read, and the deleted ones."""
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
                        continue  # deleted in the meantime, or a dangling link
                    if not stat.S_ISREG(status.st_mode):
                        continue
                    found.add(session_id)
                    if seen.get(session_id) != status.st_size:
                        changed.append((-status.st_mtime, session_id, status.st_size))
        waiting = {session_id: size for _, session_id, size in sorted(changed)}
        self._waiting = waiting | dict.fromkeys(seen.keys() - found, 0)
        cost_s = time.monotonic() - begun
        self._scan_again_at = begun + (cost_s * SCANNING_SHARE if cost_s > FREE_SCAN_S else 0.0)

    def _next_batch(self) -> list[Path]:
        """Return as many records as can be read quickly, in order of their numbers where possible."""
        batch: list[Path] = []
        size_bytes = 0
        for session_id, size in self._waiting.items():
            if batch and size_bytes + size > BATCH_BYTES:
                break
            size_bytes += size
            batch.append(self._folder / f"{session_id}.jsonl")
        return batch

    async def follow(self, session_ids: Iterable[str]) -> None:
        """Index the new content of the given records. Raises StorageError."""
        await self._read([self._folder / f"{session_id}.jsonl" for session_id in session_ids])

    async def _read(self, paths: list[Path]) -> None:
        """Update the index for the given records, drop deleted ones, and store how far each was read."""
        seen = await self.database.run(lambda connection: read_records(connection, paths))
        if self._seen is not None:
            for path in paths:
                self._seen.pop(path.stem, None)
            self._seen |= seen

    async def forget_session(self, session_id: str) -> None:
        """Drop a deleted session. Raises StorageError."""
        await self.database.run(lambda connection: drop_record(connection, session_id))
        if self._seen is not None:
            self._seen.pop(session_id, None)

    async def rebuild(self) -> None:
        """Drop everything and index all records again. Raises StorageError."""
        with suppress(DatabaseDamaged):  # a fresh file is empty as well, as intended
            await self.database.run(empty)
        self.forget()
        await self.catch_up()

    def forget(self) -> None:
        """Discard the cached read positions, so that they are read from the file again."""
        self._seen = None

    def news(self) -> list[str]:
        """Return notices for the user, each only once."""
        return self.database.news()

    def close(self) -> None:
        """Close the index."""
        self.database.close()


def _list(connection: "sqlite3.Connection", asked: RecallQuery, unread: int) -> SearchResults:
    """Return the passages within a window, for a query without words."""
    window = window_of(asked)
    keys, are_all = requests_within(connection, window, asked, POSITION_BITS) if window else ([], True)
    finds = tuple(_find(connection, key, None) for key in keys[: asked.limit])
    return SearchResults(finds, unread, total=len(keys), is_total_exact=are_all)


def _select(
    connection: "sqlite3.Connection", asked: RecallQuery, query: SearchExpression, now: float, unread: int
) -> SearchResults:
    left_out = connection.execute("SELECT number FROM records WHERE id = ?", (asked.excluded,)).fetchone()
    place = "" if asked.cwd is None else place_of(asked.cwd)
    span = SearchSpan(place, left_out[0] if left_out else -1, POSITION_BITS, window_of(asked))
    keys = span.newest(connection, query.expression(), CANDIDATES)
    sessions = _sessions_of(connection, {key >> POSITION_BITS for key in keys})
    ranked: list[tuple[float, int]] = []
    for key, relevance in relevances(connection, query, keys, POSITION_BITS).items():
        cwd, updated_at = sessions.get(key >> POSITION_BITS, ("", 0.0))
        if asked.cwd in (None, cwd):
            age_s = max(0.0, now - updated_at)
            ranked.append((-relevance * (1.0 + 0.5 ** (age_s / HALF_LIFE_S)), -key))
    matches = _best(ranked)
    best = matches[: asked.limit]
    scattered = find_across_passages(connection, query, span, keys, asked.limit - len(best))
    finds = [_find(connection, key, query) for key in (*best, *scattered)]
    finds = [find for find in finds if asked.cwd in (None, find.cwd)]
    if not asked.fills_up:
        return SearchResults(tuple(finds), unread, total=max(len(matches), len(finds)))
    partial = find_partial_matches(connection, query, span, (*best, *scattered), asked.limit - len(finds))
    more = [_find(connection, key, partial.query) for key in partial.keys]
    more = [find for find in more if asked.cwd in (None, find.cwd)]
    note = SOME_WORDS.format(count=len(more)) if more else ""
    return SearchResults((*finds, *more), unread, note, total=max(len(matches), len(finds) + len(more)))


def _sessions_of(connection: "sqlite3.Connection", numbers: set[int]) -> dict[int, tuple[str, float]]:
    """Return the working directories and times of sessions by number."""
    rows = connection.execute(
        "SELECT number, cwd, updated_at FROM records WHERE number IN (SELECT value FROM json_each(?))",
        (msgspec.json.encode(list(numbers)).decode(),),
    )
    return {number: (cwd, updated_at) for number, cwd, updated_at in rows}


def _best(ranked: list[tuple[float, int]]) -> list[int]:
    """Return the best keys first, limited per session. A title counts only if nothing else in its session matches."""
    counts: dict[int, int] = {}
    for _, key in ranked:
        counts[-key >> POSITION_BITS] = counts.get(-key >> POSITION_BITS, 0) + 1
    taken: dict[int, int] = {}
    best: list[int] = []
    for _, negative in sorted(ranked):
        key = -negative
        number = key >> POSITION_BITS
        is_title = key & LAST_POSITION == 0
        if taken.get(number, 0) >= MAX_PER_SESSION or (is_title and counts[number] > 1):
            continue
        taken[number] = taken.get(number, 0) + 1
        best.append(key)
    return best


def _find(connection: "sqlite3.Connection", key: int, query: SearchExpression | None) -> SearchHit:
    speaker: Speaker
    speaker, text, at, session_id, title, cwd, updated_at = connection.execute(
        """SELECT speaker, text, at, id, title, cwd, updated_at FROM passages JOIN records ON number = ?
           WHERE key = ?""",
        (key >> POSITION_BITS, key),
    ).fetchone()
    position = key & LAST_POSITION
    shown = snippet(text, query) if query else excerpt(text)
    return SearchHit(session_id, title, cwd, updated_at, position, speaker, shown, at)
