"""Read the passages of sessions from the full-text index."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from hermes_acp.core.event_types import Speaker
from hermes_acp.core.ports.recall_ports import SearchHit
from hermes_acp.core.record.passages import Passage
from hermes_acp.storage.search.search_index import SearchIndex
from hermes_acp.storage.search.search_queries import WORD_SEPARATOR, excerpt
from hermes_acp.storage.search.search_tables import LAST_POSITION, POSITION_BITS
from hermes_acp.storage.search.search_window import END_OF_TIME, IS_WITHIN, SearchWindow

if TYPE_CHECKING:
    import sqlite3

ANY_TIME = SearchWindow(-END_OF_TIME, END_OF_TIME)


class IndexedSession(Struct, frozen=True):
    """An indexed session: its folder, and a mark that changes whenever the session grows."""

    id: str
    cwd: str
    mark: str


class PassageIndex:
    """Reads the full-text index."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    async def sessions(self, most: int) -> list[IndexedSession]:
        """Return the most recently written sessions, newest first. Raises StorageError."""

        def select(connection: "sqlite3.Connection") -> list[IndexedSession]:
            rows = connection.execute(
                """SELECT id, cwd, created_at, seen_bytes FROM records WHERE seen_bytes > 0
                   ORDER BY updated_at DESC, number DESC LIMIT ?""",
                (most,),
            )
            return [
                IndexedSession(id_, cwd, f"{created_at} {seen_bytes}")
                for id_, cwd, created_at, seen_bytes in rows
            ]

        return await self._index.database.read(select)

    async def passages(self, session_id: str, most: int) -> list[Passage]:
        """Return the latest passages by the user and the agent in a session. Raises StorageError."""

        def select(connection: "sqlite3.Connection") -> list[Passage]:
            rows = connection.execute(
                """SELECT key, speaker, text FROM passages
                   JOIN records ON key BETWEEN number << :bits AND (number << :bits) + :last
                   WHERE id = :id AND speaker IN ('user', 'agent') ORDER BY key DESC LIMIT :most""",
                {"bits": POSITION_BITS, "last": LAST_POSITION, "id": session_id, "most": most},
            )
            return [_passage(key, speaker, text) for key, speaker, text in rows]

        return await self._index.database.read(select)

    async def finds(
        self, places: Iterable[tuple[str, int]], window: SearchWindow | None = None
    ) -> dict[tuple[str, int], SearchHit]:
        """Return hits for the passages at the given places (session, position) within the window.

        Raises StorageError.
        """
        wanted = tuple(places)
        within = window or ANY_TIME

        def select(connection: "sqlite3.Connection") -> dict[tuple[str, int], SearchHit]:
            found = ((place, _find(connection, *place, within)) for place in wanted)
            return {place: find for place, find in found if find}

        return await self._index.database.read(select)


def _passage(key: int, speaker: Speaker, text: str) -> Passage:
    return Passage(key & LAST_POSITION, speaker, text.replace(WORD_SEPARATOR, ""))


def _find(
    connection: "sqlite3.Connection", session_id: str, position: int, within: SearchWindow
) -> SearchHit | None:
    row = connection.execute(
        f"""SELECT speaker, text, title, cwd, updated_at, at FROM records
            JOIN passages ON key = (number << :bits) + :position WHERE id = :id AND {IS_WITHIN}""",
        {
            "bits": POSITION_BITS,
            "position": position,
            "id": session_id,
            "since": within.since,
            "until": within.until,
        },
    ).fetchone()
    if row is None:
        return None
    speaker, text, title, cwd, updated_at, at = row
    return SearchHit(session_id, title, cwd, updated_at, position, speaker, excerpt(text), at)
