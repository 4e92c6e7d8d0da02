"""The vector index follows what was said, and the skills there are.

Knows: which texts have a vector, in which order they get one, how many at most. Does not know: what makes a vector,
when there is time for it. It can be stopped anywhere: what was done is kept, and a source counts as known only when all
of it is.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Final

from hermes_acp.core.embedding_ports import Embedder
from hermes_acp.core.passages import Passage
from hermes_acp.knowledge.recall.generic_prompts import GENERIC_PROMPTS
from hermes_acp.knowledge.skills.skill_collection import Skill
from hermes_acp.storage.passage_index import IndexedSession, PassageIndex
from hermes_acp.storage.vector_store import Kind, PlacedVector, VectorStore

MAX_SESSIONS: Final = 300
MAX_PASSAGES: Final = 200
MIN_CHARS: Final = 12
MAX_CHARS: Final = 800
TEXTS_AT_ONCE: Final = 4
GENERIC_PROMPT_SOURCE: Final = "anchors"


class VectorIndexer:
    """Brings the vectors of one home up to date; `left` is how many texts may still be embedded."""

    def __init__(self, vectors: VectorStore, embedder: Embedder, words: PassageIndex, left: int) -> None:
        self._vectors = vectors
        self._embedder = embedder
        self._words = words
        self.left = left

    async def index_sessions(self) -> int:
        """Embed what was said since; give how many sessions are left. Raises ModelError, StorageError."""
        sessions = await self._words.sessions(MAX_SESSIONS)
        known = await self._vectors.marks("session")
        await self._vectors.drop(known.keys() - {each.id for each in sessions})
        waiting = [each for each in sessions if known.get(each.id) != each.mark]
        for number, session in enumerate(waiting):
            if not await self._index_session(session):
                return len(waiting) - number
        return 0

    async def count_unknown(self) -> int:
        """Tell of how many sessions not everything is embedded. Raises StorageError."""
        known = await self._vectors.marks("session")
        return sum(known.get(each.id) != each.mark for each in await self._words.sessions(MAX_SESSIONS))

    async def index_skills(self, skills: Sequence[Skill]) -> None:
        """Embed what skills say of themselves, and what no skill is for. Raises ModelError, StorageError."""
        await self._follow(
            "anchor", GENERIC_PROMPT_SOURCE, "", dict(enumerate(GENERIC_PROMPTS)), str(len(GENERIC_PROMPTS))
        )
        for skill in skills:
            text = text_of(skill)
            await self._follow("skill", skill.folder, "", {0: text}, _digest(text))

    async def _index_session(self, session: IndexedSession) -> bool:
        passages = await self._words.passages(session.id, MAX_PASSAGES)
        texts = {passage.position: _cut(passage) for passage in passages if _says_something(passage)}
        return await self._follow("session", session.id, session.cwd, texts, session.mark)

    async def _follow(self, kind: Kind, source: str, place: str, texts: dict[int, str], mark: str) -> bool:
        """Embed of a source what is not embedded yet; tell whether all of it is by now."""
        stand = await self._vectors.stand(source)
        if stand.mark == mark:
            return True
        missing = [(at, text) for at, text in texts.items() if stand.digests.get(at) != _digest(text)]
        for group in _grouped(missing, TEXTS_AT_ONCE):
            if kind == "session" and self.left < len(group):
                return False
            purpose = "query" if kind == "anchor" else "passage"
            vectors = await self._embedder.embed([text for _, text in group], purpose)
            placed = [
                PlacedVector(at, _digest(text), each) for (at, text), each in zip(group, vectors, strict=True)
            ]
            await self._vectors.put(kind, source, place, placed)
            self.left -= len(group) if kind == "session" else 0
        if texts:
            await self._vectors.settle(source, mark, texts)
        return True


def text_of(skill: Skill) -> str:
    """Return what of a skill is compared with a prompt."""
    return description_text(skill.name, skill.document.description)


def description_text(name: str, description: str) -> str:
    """Return what is compared of a skill of that name and description."""
    return f"{name.replace('-', ' ')}: {description}"[:MAX_CHARS]


def _says_something(passage: Passage) -> bool:
    return len(passage.text.strip()) >= MIN_CHARS


def _cut(passage: Passage) -> str:
    return " ".join(passage.text[: 2 * MAX_CHARS].split())[:MAX_CHARS]


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=12).hexdigest()


def _grouped(rows: Sequence[tuple[int, str]], size: int) -> Iterable[Sequence[tuple[int, str]]]:
    return (rows[start : start + size] for start in range(0, len(rows), size))
