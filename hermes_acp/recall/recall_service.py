"""Recall by meaning: the vectors of earlier sessions and of skills, and the model that makes them.

A failure costs the search by meaning alone; the search by words goes on.
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
"""How long nothing is embedded in the background after that failed."""


class RecallService:
    """Keeps the vectors of one home up to date, and searches them; without the setting it does neither."""

    def __init__(
        self,
        environment: Environment,
        store: SessionStore,
        choose_embedder: "ChooseEmbedder",
        index_texts: "IndexTexts",
    ) -> None:
        """Read nothing yet; `choose_embedder` returns the configured model, or None. It blocks and raises HermesError.

        `index_texts` embeds the texts that other texts are compared with.
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
        """Find passages: by their words, and by their meaning where there is a model for it.

        Raises BadRequest for a query that says nothing, StorageError.
        """
        from hermes_acp.recall.hybrid_search import HybridSearch

        return await HybridSearch(self._store.words, self._search).search(asked)

    def equip(self, settings: "Settings", variables: Mapping[str, str], choice: "ModelChoice | None") -> None:
        """Use the model that is configured from now on; what cannot be had is told and done without. Blocks."""
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
        """What compares meanings now; None where no model is configured, or it cannot be had."""
        return self._index

    @property
    def knows_meaning(self) -> bool:
        """Whether there is a model that tells what texts mean."""
        return self._index is not None

    def follow_soon(self) -> None:
        """Let the vectors follow what was said, in the background."""
        self._has_news.set()

    async def keep(self) -> None:
        """Let the vectors follow whenever something was said; runs beside everything else."""
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
        """Embed what was said since, for at most so long; give how many sessions are left.

        Raises ModelError, StorageError.
        """
        index = self._index
        if index is None:
            return 0
        await self._index_texts(index.indexer)  # it wakes the model too
        await self._store.words.catch_up(CATCH_UP_TIMEOUT_S if max_wait_s is None else max_wait_s)
        left = -1
        with anyio.move_on_after(max_wait_s):
            left = await index.indexer.index_sessions()
        return left if left >= 0 else await index.indexer.count_unknown()

    async def rebuild(self) -> int:
        """Make all vectors anew; give how many sessions are left for later. Raises ModelError, StorageError."""
        if self._index is None:
            return 0
        await self._index.vectors.clear()
        await self._store.words.catch_up()
        return await self._index.indexer.index_sessions()

    async def forget(self, session_id: str) -> None:
        """Forget a session that was deleted, also where meaning is no longer asked for."""
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
            await run_sync(self._path.unlink)  # nobody can read it, and it can be made anew
        except StorageError as error:
            self.report(error)

    def report(self, error: HermesError) -> None:
        """Have the user told once why nothing is recalled by meaning."""
        sentence = f"The search by meaning is not available: {error.sentence()}"
        if sentence not in self._told:
            self._told.add(sentence)
            self._news.append(sentence)

    def news(self) -> Sequence[str]:
        """Return sentences the user should read, each once."""
        news, self._news = self._news, []
        return news

    async def aclose(self) -> None:
        """Let go of the model and the file."""
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
