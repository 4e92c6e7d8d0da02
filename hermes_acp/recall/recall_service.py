"""Semantic recall: the embeddings of earlier sessions and of skills, and the model that computes them.

A failure only disables semantic search; full-text search continues to work.
"""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import ConfigError, HermesError, StorageError
from hermes_acp.storage.session_store import SessionStore

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings
    from hermes_acp.core.ports.embedding_ports import Embedder
    from hermes_acp.core.ports.recall_ports import RecallQuery, SearchResults
    from hermes_acp.recall.hybrid_search import SemanticSearch
    from hermes_acp.storage.search.semantic_index import SemanticIndex
    from hermes_acp.storage.search.vector_indexing import VectorIndexer

    ChooseEmbedder = Callable[[Settings, Mapping[str, str], ModelChoice | None], Embedder | None]
    IndexTexts = Callable[[VectorIndexer], Awaitable[None]]

FILE: Final = "vectors.db"
CATCH_UP_TIMEOUT_S: Final = 2.0
COOLDOWN_S: Final = 300.0
"""How many seconds background embedding pauses after a failure."""


class RecallService:
    """Updates and searches the embeddings of a home folder; does nothing unless enabled in the settings."""

    def __init__(
        self,
        environment: Environment,
        store: SessionStore,
        choose_embedder: "ChooseEmbedder",
        index_texts: "IndexTexts",
    ) -> None:
        """Store the arguments; nothing is read until first use.

        `choose_embedder` returns the configured model or None; it blocks and raises HermesError. `index_texts` embeds
        the texts with which other texts are compared.
        """
        self._choose_embedder = choose_embedder
        self._index_texts = index_texts
        self._path = environment.home / FILE
        self._store = store
        self._index: SemanticIndex | None = None
        self._made_of: tuple[object, ...] = ()
        self._news: list[str] = []
        self._told: set[str] = set()
        self._has_news = anyio.Event()
        self._rests_until = 0.0

    async def search(self, asked: "RecallQuery") -> "SearchResults":
        """Find passages by words and, if a model is available, by meaning.

        Raises BadRequest for an empty query, or StorageError.
        """
        from hermes_acp.recall.hybrid_search import HybridSearch

        await self._store.sharing.fetch_changed()
        return await HybridSearch(self._store.words, self._search).search(asked)

    def equip(self, settings: "Settings", variables: Mapping[str, str], choice: "ModelChoice | None") -> None:
        """Use the configured model from now on; if something is unavailable, report that and continue without it.

        Blocks.
        """
        made_of = (settings.recall, choice if settings.recall.embeddings == "provider" else None)
        if made_of == self._made_of:
            return
        self._made_of = made_of
        self._index = None
        try:
            embedder = self._choose_embedder(settings, variables, choice)
        except HermesError as error:
            self.report(error)
            return
        if embedder is not None:
            from hermes_acp.storage.search.passage_index import PassageIndex
            from hermes_acp.storage.search.semantic_index import SemanticIndex
            from hermes_acp.storage.search.vector_indexing import VectorIndexer
            from hermes_acp.storage.search.vector_store import VectorStore

            vectors = VectorStore(self._path, embedder.name)
            words = PassageIndex(self._store.words)
            indexer = VectorIndexer(vectors, embedder, words, settings.recall.most_texts)
            self._index = SemanticIndex(embedder, vectors, indexer)

    @property
    def semantic_index(self) -> "SemanticIndex | None":
        """The current semantic index, or None if no model is configured or available."""
        return self._index

    @property
    def knows_meaning(self) -> bool:
        """Whether a model for semantic search is available."""
        return self._index is not None

    def follow_soon(self) -> None:
        """Update the embeddings in the background."""
        self._has_news.set()

    async def keep(self) -> None:
        """Update the embeddings whenever sessions grow; runs as a background task."""
        while True:
            await self._has_news.wait()
            self._has_news = anyio.Event()
            if self._index and time.monotonic() >= self._rests_until:
                try:
                    await self.catch_up(None)
                except HermesError as error:
                    self._rests_until = time.monotonic() + COOLDOWN_S
                    self.report(error)

    async def catch_up(self, max_wait_s: float | None) -> int:
        """Embed new texts for at most `max_wait_s` seconds; return how many sessions are left to do.

        Raises ModelError or StorageError.
        """
        index = self._index
        if index is None:
            return 0
        await self._index_texts(index.indexer)  # this also loads the model
        await self._store.words.catch_up(CATCH_UP_TIMEOUT_S if max_wait_s is None else max_wait_s)
        left = -1
        with anyio.move_on_after(max_wait_s):
            left = await index.indexer.index_sessions()
        return left if left >= 0 else await index.indexer.count_unknown()

    async def rebuild(self) -> int:
        """Recreate all embeddings; return how many sessions are left to do. Raises ModelError or StorageError."""
        if self._index is None:
            return 0
        await self._index.vectors.clear()
        await self._store.words.catch_up()
        return await self._index.indexer.index_sessions()

    async def forget(self, session_id: str) -> None:
        """Remove a deleted session from the index, even if semantic search is no longer enabled."""
        if not self._path.is_file():
            return
        from hermes_acp.storage.search.vector_store import VectorStore, require_vectors

        try:
            require_vectors()
            vectors = self._index.vectors if self._index else VectorStore(self._path, None)
            await vectors.drop((session_id,))
            if not self._index:
                await vectors.aclose()
        except ConfigError:
            await run_sync(self._path.unlink)  # unreadable, but can be recreated
        except StorageError as error:
            self.report(error)

    def report(self, error: HermesError) -> None:
        """Tell the user, once, why semantic recall is unavailable."""
        sentence = f"Semantic search is not available: {error.sentence()}"
        if sentence not in self._told:
            self._told.add(sentence)
            self._news.append(sentence)

    def news(self) -> Sequence[str]:
        """Return notices for the user, each only once."""
        news, self._news = self._news, []
        return news

    async def aclose(self) -> None:
        """Release the model and the file."""
        if self._index:
            await self._index.embedder.aclose()
            await self._index.vectors.aclose()

    def _search(self) -> "SemanticSearch | None":
        if self._index is None:
            return None
        from hermes_acp.recall.hybrid_search import SemanticSearch
        from hermes_acp.storage.search.passage_index import PassageIndex

        index = self._index
        words = PassageIndex(self._store.words)
        return SemanticSearch(index.vectors, index.embedder, words, index.indexer.count_unknown)
