"""Read the passages of sessions from the full-text index."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hermes_acp.core.event_types import Speaker
from hermes_acp.core.ports.recall_ports import SearchHit
from hermes_acp.core.record.passages import Passage
from hermes_acp.storage.search.search_index import SearchIndex
from hermes_acp.storage.search.search_queries import SEAM, SNIPPET_CHARACTERS
from hermes_acp.storage.search.search_tables import LAST_POSITION, POSITION_BITS

if TYPE_CHECKING:
    import sqlite3

MAX_SNIPPET_CHARACTERS: Final = SNIPPET_CHARACTERS


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
        """Return the latest passages by the user and the agent of a session. Raises StorageError."""

        def select(connection: "sqlite3.Connection") -> list[Passage]:
            rows = connection.execute(
                """SELECT key, speaker, text FROM passages
                   JOIN records ON key BETWEEN number << :bits AND (number << :bits) + :last
                   WHERE id = :id AND speaker IN ('user', 'agent') ORDER BY key DESC LIMIT :most""",
                {"bits": POSITION_BITS, "last": LAST_POSITION, "id": session_id, "most": most},
            )
            return [_passage(key, speaker, text) for key, speaker, text in rows]

        return await self._index.database.read(select)

    async def finds(self, places: Iterable[tuple[str, int]]) -> dict[tuple[str, int], SearchHit]:
        """Return passages, each given by session and position, as search results. Raises StorageError."""
        wanted = tuple(places)

        def select(connection: "sqlite3.Connection") -> dict[tuple[str, int], SearchHit]:
            found = ((place, _find(connection, *place)) for place in wanted)
            return {place: find for place, find in found if find}

        return await self._index.database.read(select)


def _passage(key: int, speaker: Speaker, text: str) -> Passage:
    return Passage(key & LAST_POSITION, speaker, text.replace(SEAM, ""))


def _find(connection: "sqlite3.Connection", session_id: str, position: int) -> SearchHit | None:
    row = connection.execute(
        """SELECT speaker, text, title, cwd, updated_at FROM records
           JOIN passages ON key = (number << ?) + ? WHERE id = ?""",
        (POSITION_BITS, position, session_id),
    ).fetchone()
    if row is None:
        return None
    speaker, text, title, cwd, updated_at = row
    plain = " ".join(text.replace(SEAM, "").split())
    told = plain if len(plain) <= MAX_SNIPPET_CHARACTERS else f"{plain[: MAX_SNIPPET_CHARACTERS - 1]}…"
    return SearchHit(session_id, title, cwd, updated_at, position, speaker, told)
