"""Suggest skills that fit the user's prompt, found in the background and shown once per session.

Words are compared first, which takes about a millisecond. With an embedding model, meanings are compared too, and the
two scores are added (`python -m bench.skill_search`). If that fails or takes too long, the words alone decide.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.core.errors import HermesError
from hermes_acp.core.event_types import Surface
from hermes_acp.core.ports.runtime_ports import StartTask
from hermes_acp.core.ports.skill_ports import SkillSuggestion
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.skills.skill_collection import Skill
from hermes_acp.skills.suggestions.combined_fit import fitting_skills, is_likely
from hermes_acp.skills.suggestions.skill_fit import MIN_GENERIC_PROMPTS, Meaning, compare_meanings
from hermes_acp.skills.suggestions.skill_vectors import GENERIC_PROMPT_SOURCE, WHOLE, index_skills
from hermes_acp.skills.suggestions.word_ranking import WordRanking
from hermes_acp.storage.search.semantic_index import SemanticIndex

TIMEOUT_S: Final = 60.0
PROMPT_CHARACTERS: Final = 1_000
MAX_REPORTED: Final = 8
ABOUT_CHARACTERS: Final = 200


class _Search:
    def __init__(self, surface: Surface) -> None:
        self.surface: Surface = surface
        self.is_done = anyio.Event()
        self.found: list[SkillSuggestion] = []


class SkillSuggester:
    """Searches for skills. `start` runs a search in the background; `tell` receives errors."""

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
        self._ranking: tuple[Sequence[Skill], WordRanking] | None = None

    def look(self, session_id: str, workspace: Workspace, prompt: str, surface: Surface = "") -> None:
        """Start a search in the background, for a session that started on a surface."""
        if len(self._told.get(session_id, ())) < MAX_REPORTED:
            look = self._looks[session_id] = _Search(surface)
            self._start(partial(self._find, look, workspace, prompt[:PROMPT_CHARACTERS]))

    async def fitting(self, session_id: str, max_wait_s: float) -> Sequence[SkillSuggestion]:
        """Return new results for this session, after waiting for at most `max_wait_s`."""
        look = self._looks.get(session_id)
        if look is None:
            return ()
        with anyio.move_on_after(max_wait_s):
            await look.is_done.wait()
        if look.is_done.is_set():
            del self._looks[session_id]
        told = self._told.setdefault(session_id, set())
        fresh = tuple(each for each in look.found if each.name not in told)
        told |= {each.name for each in fresh}
        return fresh

    def forget(self, session_id: str) -> None:
        """Stop searching for a session that closes."""
        self._looks.pop(session_id, None)
        self._told.pop(session_id, None)

    async def _find(self, look: _Search, workspace: Workspace, prompt: str) -> None:
        try:
            with anyio.move_on_after(TIMEOUT_S):
                skills, words = await run_sync(self._compare_words, workspace, prompt)
                suited = {number for number, skill in enumerate(skills) if skill.document.suits(look.surface)}
                words = {number: score for number, score in words.items() if number in suited}
                look.found = _suggestions(skills, words, {})
                if suited and (meaning := self._meaning()):
                    near = await _compare_meanings(meaning, skills, prompt)
                    near = {number: value for number, value in near.items() if number in suited}
                    look.found = _suggestions(skills, words, near)
        except HermesError as error:
            self._tell(error)
        finally:
            look.is_done.set()

    def _compare_words(self, workspace: Workspace, prompt: str) -> tuple[Sequence[Skill], dict[int, float]]:
        """Return the skills of a workspace and their scores for the prompt's words. Blocks."""
        skills = self._skills(workspace)
        if self._ranking is None or self._ranking[0] is not skills:
            self._ranking = skills, WordRanking([ranked_texts(skill) for skill in skills])
        return skills, self._ranking[1].scores(prompt)


async def _compare_meanings(
    meaning: SemanticIndex, skills: Sequence[Skill], prompt: str
) -> dict[int, Meaning]:
    """Return the similarity of each skill to a prompt, by number."""
    await index_skills(meaning.indexer, skills)
    (wanted,) = await meaning.embedder.embed([prompt], "query")
    vectors = await meaning.vectors.vectors("skill", [skill.folder for skill in skills])
    generic_prompts = (await meaning.vectors.vectors("anchor")).get(GENERIC_PROMPT_SOURCE, [])
    if len(generic_prompts) < MIN_GENERIC_PROMPTS:
        return {}
    found = {
        number: vectors[skill.folder][: WHOLE + 1]
        for number, skill in enumerate(skills)
        if len(vectors.get(skill.folder, ())) > WHOLE
    }
    return await run_sync(compare_meanings, wanted, found, generic_prompts)


def ranked_texts(skill: Skill) -> tuple[str, str, str]:
    """Return the texts by which a skill can be found."""
    return skill.name, skill.document.description, skill.document.body


def _suggestions(
    skills: Sequence[Skill], words: Mapping[int, float], meanings: Mapping[int, Meaning]
) -> list[SkillSuggestion]:
    fits = fitting_skills(words, meanings)
    return [_pointer(skills[fit.number], is_likely=is_likely(fit)) for fit in fits]


def _pointer(skill: Skill, *, is_likely: bool) -> SkillSuggestion:
    about = " ".join(skill.document.description.split())
    return SkillSuggestion(
        skill.name,
        about if len(about) <= ABOUT_CHARACTERS else f"{about[: ABOUT_CHARACTERS - 1]}…",
        is_likely=is_likely,
    )
