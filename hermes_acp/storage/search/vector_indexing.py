"""Keep the vector index up to date with sessions and other sources of text.

Indexing can stop at any point: finished vectors are stored, and a source counts as indexed only once it is
complete.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final

from hermes_acp.core.ports.embedding_ports import Embedder
from hermes_acp.core.record.passages import Passage
from hermes_acp.storage.search.passage_index import IndexedSession, PassageIndex
from hermes_acp.storage.search.vector_store import EmbeddedText, Kind, VectorStore

MAX_SESSIONS: Final = 300
MAX_PASSAGES: Final = 200
MIN_CHARS: Final = 12
MAX_CHARS: Final = 800
TEXTS_AT_ONCE: Final = 4


class VectorIndexer:
    """Updates the vectors of a home folder; `left` is the number of session texts that may still be embedded."""

    def __init__(self, vectors: VectorStore, embedder: Embedder, words: PassageIndex, left: int) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._words = words
        self.left = left

    async def index_sessions(self) -> int:
        """Embed new session texts, and return how many sessions are left. Raises ModelError or StorageError."""
        sessions = await self._words.sessions(MAX_SESSIONS)
        known = await self._vectors.marks("session")
        await self._vectors.drop(known.keys() - {each.id for each in sessions})
        waiting = [each for each in sessions if known.get(each.id) != each.mark]
        for number, session in enumerate(waiting):
            if not await self._index_session(session):
                return len(waiting) - number
        return 0

    async def count_unknown(self) -> int:
        """Return how many sessions are not fully embedded. Raises StorageError."""
        known = await self._vectors.marks("session")
        return sum(known.get(each.id) != each.mark for each in await self._words.sessions(MAX_SESSIONS))

    async def _index_session(self, session: IndexedSession) -> bool:
        passages = await self._words.passages(session.id, MAX_PASSAGES)
        texts = {passage.position: _cut(passage) for passage in passages if _says_something(passage)}
        return await self.index_source("session", session.id, session.cwd, texts, session.mark)

    async def index_source(
        self, kind: Kind, source: str, place: str, texts: dict[int, str], mark: str
    ) -> bool:
        """Embed new texts of a source, and return whether it is complete. Raises ModelError or StorageError.

        `texts` are the source's texts by position; `mark` changes whenever they do.
        """
        source_state = await self._vectors.source_state(source)
        if source_state.mark == mark:
            return True
        missing = [
            (at, text) for at, text in texts.items() if source_state.digests.get(at) != text_digest(text)
        ]
        for group in _grouped(missing, TEXTS_AT_ONCE):
            if kind == "session" and self.left < len(group):
                return False
            purpose = "query" if kind == "anchor" else "passage"
            vectors = await self._embedder.embed([text for _, text in group], purpose)
            placed = [
                EmbeddedText(at, text_digest(text), each)
                for (at, text), each in zip(group, vectors, strict=True)
            ]
            await self._vectors.put(kind, source, place, placed)
            self.left -= len(group) if kind == "session" else 0
        if texts:
            await self._vectors.settle(source, mark, texts)
        return True


def _says_something(passage: Passage) -> bool:
    return len(passage.text.strip()) >= MIN_CHARS


def _cut(passage: Passage) -> str:
    return " ".join(passage.text[: 2 * MAX_CHARS].split())[:MAX_CHARS]


def text_digest(text: str) -> str:
    """Return a short hash that changes with the text."""
    return blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _grouped(rows: Sequence[tuple[int, str]], size: int) -> Iterable[Sequence[tuple[int, str]]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))
