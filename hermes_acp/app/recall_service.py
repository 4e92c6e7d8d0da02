"""What a process remembers by meaning: earlier sessions, and which skill a prompt is a case for.

Knows: whose model is asked under which settings, when the vectors follow, that a failure costs the meaning alone. Does
not know: how anything is compared.
"""

import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadConfig, HermesError, StorageTrouble
from hermes_acp.core.ports import StartTask
from hermes_acp.storage.sessions import SessionStore

if TYPE_CHECKING:
    from hermes_acp.agent.turn import Ending, Stages, Turn
    from hermes_acp.assembly.librarian import Librarian
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings
    from hermes_acp.core.exchanges import Finds, RecallQuery
    from hermes_acp.knowledge.recall.foresight import Meaning, SkillForesight
    from hermes_acp.knowledge.recall.hybrid import MeaningSearch
    from hermes_acp.knowledge.recall.kinship import Kinship

FILE: Final = "vectors.db"
READING_S: Final = 2.0
REST_S: Final = 300.0
"""How long nothing is embedded in the background after that failed."""


class Recollection:
    """The vectors of one home and whoever uses them; without the setting there is nothing of it."""

    def __init__(self, environment: Environment, store: SessionStore) -> None:
        self._path = environment.home / FILE
        self._store = store
        self._meaning: Meaning | None = None
        self._made_of: tuple[object, ...] = ()
        self._foresight: SkillForesight | None = None
        self._news: list[str] = []
        self._told: set[str] = set()
        self._has_news = anyio.Event()
        self._rests_until = 0.0

    async def search(self, asked: "RecallQuery") -> "Finds":
        """Find passages: by their words, and by their meaning where there is a model for it.

        Raises BadRequest for a query that says nothing, StorageTrouble.
        """
        from hermes_acp.knowledge.recall.hybrid import HybridRecall

        return await HybridRecall(self._store.words, self._search).search(asked)

    @property
    def kinship(self) -> "Kinship":
        """Whoever tells which skills are much alike: by meaning where there is a model for it, by letters elsewhere."""
        from hermes_acp.knowledge.recall.kinship import Kinship

        return Kinship(lambda: self._meaning, self._tell)

    def equip(self, settings: "Settings", variables: Mapping[str, str], choice: "ModelChoice | None") -> None:
        """Use the model that is configured from now on; what cannot be had is told and done without. Blocks."""
        made_of = (settings.recall, choice if settings.recall.embeddings == "provider" else None)
        if made_of == self._made_of:
            return
        from hermes_acp.assembly.embedders import embedder_of

        self._made_of = made_of
        self._meaning = None
        try:
            embedder = embedder_of(settings, variables, choice)
        except HermesError as trouble:
            self._tell(trouble)
            return
        if embedder is not None:
            from hermes_acp.knowledge.recall.following import Follower
            from hermes_acp.knowledge.recall.foresight import Meaning
            from hermes_acp.storage.spoken import SpokenWords
            from hermes_acp.storage.vectors import VectorStore

            vectors = VectorStore(self._path, embedder.name)
            words = SpokenWords(self._store.words)
            follower = Follower(vectors, embedder, words, settings.recall.most_texts)
            self._meaning = Meaning(embedder, vectors, follower)

    def stages(self, settings: "Settings", librarian: "Librarian", start: StartTask) -> "Stages":
        """Give what is done before a turn, before a step and after a turn."""
        from hermes_acp.agent.turn import Stages

        if self._meaning is None:
            return Stages()
        if not (settings.recall.names_skills and settings.skills.enabled):
            return Stages(postflight=(self._after_turn,))
        from hermes_acp.agent.stages.fitting_skills import fitting_skills_stages

        self._foresight = self._foresight or self._make_foresight(librarian, start)
        look, name = fitting_skills_stages(self._foresight)
        return Stages(preflight=(look,), before_step=(name,), postflight=(self._after_turn,))

    def _make_foresight(self, librarian: "Librarian", start: StartTask) -> "SkillForesight":
        from hermes_acp.knowledge.recall.foresight import SkillForesight

        return SkillForesight(
            lambda: self._meaning,
            lambda workspace: librarian.library.skills_for(workspace),
            start,
            self._tell,
        )

    @property
    def knows_meaning(self) -> bool:
        """Whether there is a model that tells what texts mean."""
        return self._meaning is not None

    def follow_soon(self) -> None:
        """Let the vectors follow what was said, in the background."""
        self._has_news.set()

    async def _after_turn(self, turn: "Turn", ending: "Ending") -> None:
        self.follow_soon()

    async def keep(self) -> None:
        """Let the vectors follow whenever something was said; runs beside everything else."""
        while True:
            await self._has_news.wait()
            self._has_news = anyio.Event()
            if self._meaning and time.monotonic() >= self._rests_until:
                try:
                    await self.catch_up(None)
                except HermesError as trouble:
                    self._rests_until = time.monotonic() + REST_S
                    self._tell(trouble)

    async def catch_up(self, patience_s: float | None) -> int:
        """Embed what was said since, for at most so long; give how many sessions are left.

        Raises ModelTrouble, StorageTrouble.
        """
        meaning = self._meaning
        if meaning is None:
            return 0
        await meaning.follower.follow_skills(())  # what all skills are measured by; it wakes the model too
        await self._store.words.catch_up(READING_S if patience_s is None else patience_s)
        left = -1
        with anyio.move_on_after(patience_s):
            left = await meaning.follower.follow_sessions()
        return left if left >= 0 else await meaning.follower.count_unknown()

    async def rebuild(self) -> int:
        """Make all vectors anew; give how many sessions are left for later. Raises ModelTrouble, StorageTrouble."""
        if self._meaning is None:
            return 0
        await self._meaning.vectors.clear()
        await self._store.words.catch_up()
        return await self._meaning.follower.follow_sessions()

    async def forget(self, session_id: str) -> None:
        """Forget a session that was deleted, also where meaning is no longer asked for."""
        if not self._path.is_file():
            return
        from hermes_acp.storage.vectors import VectorStore, require_vectors

        try:
            require_vectors()
            vectors = self._meaning.vectors if self._meaning else VectorStore(self._path, None)
            await vectors.drop((session_id,))
            if not self._meaning:
                await vectors.aclose()
        except BadConfig:
            await run_sync(self._path.unlink)  # nobody can read it, and it can be made anew
        except StorageTrouble as trouble:
            self._tell(trouble)

    def release(self, session_id: str) -> None:
        """Find out nothing more for a session that closes."""
        if self._foresight:
            self._foresight.forget(session_id)

    def news(self) -> Sequence[str]:
        """Give sentences the user should read, each once."""
        news, self._news = self._news, []
        return news

    async def aclose(self) -> None:
        """Let go of the model and the file."""
        if self._meaning:
            await self._meaning.embedder.aclose()
            await self._meaning.vectors.aclose()

    @staticmethod
    @asynccontextmanager
    async def by_settings(environment: Environment, store: SessionStore) -> "AsyncGenerator[Recollection]":
        """Give one as the settings have it, for a command. Raises BadConfig."""
        from hermes_acp.config.access import Access

        recollection = Recollection(environment, store)

        def equip() -> None:
            from hermes_acp.config.settings import load_settings, load_variables

            settings = load_settings(environment)
            needs_model = settings.recall.embeddings == "provider" and settings.recall.provider is None
            choice = Access(environment, {}).read()[1] if needs_model else None
            recollection.equip(settings, load_variables(environment), choice)

        await run_sync(equip)
        try:
            yield recollection
        finally:
            with anyio.CancelScope(shield=True):
                await recollection.aclose()

    def _search(self) -> "MeaningSearch | None":
        if self._meaning is None:
            return None
        from hermes_acp.knowledge.recall.hybrid import MeaningSearch
        from hermes_acp.storage.spoken import SpokenWords

        meaning = self._meaning
        words = SpokenWords(self._store.words)
        return MeaningSearch(meaning.vectors, meaning.embedder, words, meaning.follower.count_unknown)

    def _tell(self, trouble: HermesError) -> None:
        sentence = f"Nothing is recalled by meaning: {trouble.sentence()}"
        if sentence not in self._told:
            self._told.add(sentence)
            self._news.append(sentence)
