"""Combine full-text and semantic search.

If semantic search is unavailable, only full-text search runs, so the combination is never worse than full-text search
alone. Source: Cormack, Clarke, Büttcher: Reciprocal Rank Fusion (SIGIR 2009).
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Final

import anyio
from msgspec import structs

from hermes_acp.core.errors import BadRequest, ModelError, StorageError
from hermes_acp.core.ports.embedding_ports import Embedder
from hermes_acp.core.ports.recall_ports import Recall, RecallQuery, SearchHit, SearchResults
from hermes_acp.storage.search.passage_index import PassageIndex
from hermes_acp.storage.search.search_window import window_of
from hermes_acp.storage.search.vector_store import VectorStore

RRF_CONSTANT: Final = 60
NEIGHBOURS: Final = 60
NEIGHBOURS_OF_ANY_TIME: Final = 1_000
"""The number of nearest neighbours to consider when only those within a time span count."""
MAX_PER_SESSION: Final = 3
SEARCH_TIMEOUT_S: Final = 15.0

SEMANTIC_UNAVAILABLE: Final = "Searched by words only: recall.embeddings is off."

UNKNOWN: Final = "{count:,} sessions are not indexed by meaning yet; they were searched by words only."
Place = tuple[str, int]


class SemanticSearch:
    """Searches passages by their embeddings."""

    def __init__(
        self,
        vectors: VectorStore,
        embedder: Embedder,
        words: PassageIndex,
        count_unknown: Callable[[], Awaitable[int]],
    ) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._words = words
        self.count_unknown = count_unknown

    async def search(self, asked: RecallQuery) -> list[SearchHit]:
        """Find passages, nearest first. Raises ModelError or StorageError."""
        (vector,) = await self._embedder.embed([asked.text], "query")
        window = window_of(asked)
        most = NEIGHBOURS_OF_ANY_TIME if window else NEIGHBOURS
        near = await self._vectors.nearest("session", vector, most, asked.cwd)
        places = [(each.source, each.position) for each in near if each.source != asked.excluded]
        finds = await self._words.finds(places, window)
        return [finds[place] for place in places if place in finds][:NEIGHBOURS]


class HybridSearch:
    """Searches by words and, if requested and `meaning` returns a search, also by meaning."""

    def __init__(self, words: Recall, meaning: Callable[[], SemanticSearch | None]) -> None:
        self._words = words
        self._meaning = meaning

    async def search(self, asked: RecallQuery) -> SearchResults:
        """Find passages. Raises BadRequest for an empty query, or StorageError."""
        if asked.has_dates and not asked.text.strip():
            return await self._words.search(asked)
        meaning = self._meaning() if asked.by_meaning else None
        if meaning is None:
            finds = await self._words.search(asked)
            notes = (finds.note, SEMANTIC_UNAVAILABLE) if asked.by_meaning else (finds.note,)
            return structs.replace(finds, note=" ".join(filter(None, notes)))
        by_words = await self._search_words(asked)
        note = ""
        by_meaning: list[SearchHit] = []
        try:
            with anyio.fail_after(SEARCH_TIMEOUT_S):
                by_meaning = await meaning.search(asked)
                if unknown := await meaning.count_unknown():
                    note = UNKNOWN.format(count=unknown)
        except (ModelError, StorageError) as error:
            note = f"This search did not include meaning: {error.message}"
        except TimeoutError:
            note = "This search did not include meaning: the embedding model did not answer in time."
        return SearchResults(
            fuse_rankings((by_words.found, by_meaning), asked.limit), by_words.unread_sessions, note
        )

    async def _search_words(self, asked: RecallQuery) -> SearchResults:
        try:
            return await self._words.search(
                structs.replace(asked, limit=max(asked.limit, NEIGHBOURS), fills_up=False)
            )
        except BadRequest:
            if not asked.text.strip():
                raise
            return SearchResults(())  # no text matches the words, but some may match the meaning


def fuse_rankings(rankings: Iterable[Sequence[SearchHit]], limit: int) -> tuple[SearchHit, ...]:
    """Merge several rankings into one; a high rank in any of them counts, and in all of them counts most."""
    scores: dict[Place, float] = {}
    finds: dict[Place, SearchHit] = {}
    for ranking in rankings:
        for rank, find in enumerate(ranking):
            place = (find.session_id, find.position)
            scores[place] = scores.get(place, 0.0) + 1 / (RRF_CONSTANT + rank + 1)
            finds.setdefault(place, find)
    taken: dict[str, int] = {}
    best: list[SearchHit] = []
    for place in sorted(scores, key=lambda place: (-scores[place], place)):
        session_id = place[0]
        if taken.get(session_id, 0) < MAX_PER_SESSION:
            taken[session_id] = taken.get(session_id, 0) + 1
            best.append(finds[place])
    return tuple(best[:limit])
