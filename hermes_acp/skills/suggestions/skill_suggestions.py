"""Suggest skills that fit the user's prompt, found in the background and shown once per session."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.core.errors import HermesError
from hermes_acp.core.ports.runtime_ports import StartTask
from hermes_acp.core.ports.skill_ports import SkillSuggestion
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.skills.skill_collection import Skill
from hermes_acp.skills.suggestions.skill_fit import MIN_GENERIC_PROMPTS, fitting, standard_deviations_above
from hermes_acp.skills.suggestions.skill_vectors import GENERIC_PROMPT_SOURCE, index_skills
from hermes_acp.storage.search.semantic_index import SemanticIndex

TIMEOUT_S: Final = 60.0
CANDIDATES: Final = 8
PROMPT_CHARACTERS: Final = 1_000
MAX_REPORTED: Final = 8
ABOUT_CHARACTERS: Final = 200


class _Search:
    def __init__(self) -> None:
        self.is_done = anyio.Event()
        self.found: list[SkillSuggestion] = []


class SkillSuggester:
    """Searches for skills; `start` runs a search in the background, `tell` receives errors."""

    def __init__(
        self,
        meaning: Callable[[], SemanticIndex | None],
        skills: Callable[[Workspace], Sequence[Skill]],
        start: StartTask,
        tell: Callable[[HermesError], None],
    ) -> None:
        self._meaning = meaning
        self._skills = skills
        self._start = start
        self._tell = tell
        self._looks: dict[str, _Search] = {}
        self._told: dict[str, set[str]] = {}

    def look(self, session_id: str, workspace: Workspace, prompt: str) -> None:
        """Start a search in the background."""
        meaning = self._meaning()
        if meaning and len(self._told.get(session_id, ())) < MAX_REPORTED:
            look = self._looks[session_id] = _Search()
            self._start(partial(self._find, look, meaning, workspace, prompt[:PROMPT_CHARACTERS]))

    async def fitting(self, session_id: str, max_wait_s: float) -> Sequence[SkillSuggestion]:
        """Return new finds for this session, after waiting for at most `max_wait_s`."""
        look = self._looks.get(session_id)
        if look is None:
            return ()
        with anyio.move_on_after(max_wait_s):
            await look.is_done.wait()
        if not look.is_done.is_set():
            return ()
        del self._looks[session_id]
        told = self._told.setdefault(session_id, set())
        fresh = [each for each in look.found if each.name not in told]
        told |= {each.name for each in fresh}
        return fresh

    def forget(self, session_id: str) -> None:
        """Stop searching for a session that closes."""
        self._looks.pop(session_id, None)
        self._told.pop(session_id, None)

    async def _find(self, look: _Search, meaning: SemanticIndex, workspace: Workspace, prompt: str) -> None:
        try:
            with anyio.move_on_after(TIMEOUT_S):
                look.found = await self._compare(meaning, workspace, prompt)
        except HermesError as error:
            self._tell(error)
        finally:
            look.is_done.set()

    async def _compare(
        self, meaning: SemanticIndex, workspace: Workspace, prompt: str
    ) -> list[SkillSuggestion]:
        skills = await run_sync(self._skills, workspace)
        if not skills:
            return []
        await index_skills(meaning.indexer, skills)
        by_folder = {skill.folder: skill for skill in skills}
        (wanted,) = await meaning.embedder.embed([prompt], "query")
        vectors = await meaning.vectors.vectors("skill", by_folder)
        generic_prompts = (await meaning.vectors.vectors("anchor")).get(GENERIC_PROMPT_SOURCE, [])
        if len(generic_prompts) < MIN_GENERIC_PROMPTS:
            return []
        surprises = {
            folder: standard_deviations_above(wanted, each[0], generic_prompts)
            for folder, each in vectors.items()
        }
        return [_pointer(by_folder[folder]) for folder in fitting(surprises)]


def _pointer(skill: Skill) -> SkillSuggestion:
    about = " ".join(skill.document.description.split())
    return SkillSuggestion(
        skill.name, about if len(about) <= ABOUT_CHARACTERS else f"{about[: ABOUT_CHARACTERS - 1]}…"
    )
