"""Find skills with similar meanings, regardless of wording, and skills related to some words.

Similarity is measured as in `skill_fit`, relative to everyday prompts and in both directions. `python -m bench.twins`
shows what the threshold finds with the local model. If the model fails, only the semantic comparison is lost.
"""

from array import array
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.core.errors import HermesError
from hermes_acp.core.ports.embedding_ports import cosine_similarity
from hermes_acp.skills.skill_collection import Skill
from hermes_acp.skills.suggestions.lexical_similarity import MAX_SIMILAR, LexicalSimilarity, SimilarSkills
from hermes_acp.skills.suggestions.skill_fit import FIT_THRESHOLD, MIN_GENERIC_PROMPTS, mean_and_deviation
from hermes_acp.skills.suggestions.skill_vectors import (
    DESCRIPTION,
    GENERIC_PROMPT_SOURCE,
    description_text,
    index_skills,
)
from hermes_acp.storage.search.semantic_index import SemanticIndex

DUPLICATE_THRESHOLD: Final = 4.8
COMPARE_TIMEOUT_S: Final = 20.0
IN_MEANING: Final = "in meaning"


class SimilarityMeasure:
    """Measures the similarity of texts relative to everyday prompts."""

    def __init__(
        self, vectors: "Mapping[str, array[float]]", generic_prompts: "Sequence[array[float]]"
    ) -> None:
        self._vectors = vectors
        self._usual: dict[str, tuple[float, float]] = {}
        for key, vector in vectors.items():
            usual = [cosine_similarity(vector, anchor) for anchor in generic_prompts]
            self._usual[key] = mean_and_deviation(usual)

    def similarity(self, one: str, other: str) -> float:
        """Return the similarity of two skills in standard deviations, in the direction with the lower value."""
        shared = cosine_similarity(self._vectors[one], self._vectors[other])
        return min((shared - mean) / deviation for mean, deviation in (self._usual[one], self._usual[other]))

    def surprise(self, vector: "array[float]", key: str) -> float:
        """Return by how many standard deviations a skill is more similar to a text than to everyday prompts."""
        mean, deviation = self._usual[key]
        return (cosine_similarity(vector, self._vectors[key]) - mean) / deviation

    def pairs(self) -> list[tuple[float, str, str]]:
        """Return all pairs with nearly the same meaning, nearest first."""
        near = ((self.similarity(one, other), one, other) for one, other in combinations(self._vectors, 2))
        return sorted((each for each in near if each[0] >= DUPLICATE_THRESHOLD), reverse=True)


class SkillSimilarity:
    """Finds similar skills by meaning if a model is available, otherwise by letters."""

    def __init__(
        self, meaning: Callable[[], SemanticIndex | None], tell: Callable[[HermesError], None]
    ) -> None:
        self._meaning = meaning
        self._tell = tell
        self._letters = LexicalSimilarity()

    async def pairs(self, skills: Sequence[Skill]) -> Sequence[SimilarSkills]:
        """Compare all pairs."""
        by_letters = await self._letters.pairs(skills)
        measure = await self._measure(skills)
        if measure is None:
            return by_letters
        names = {skill.folder: skill.name for skill in skills}
        found = [
            SimilarSkills(names[one], names[other], IN_MEANING)
            for _, one, other in await run_sync(measure.pairs)
        ]
        return _merge_pairs(by_letters, found)

    async def near(self, name: str, description: str, skills: Sequence[Skill]) -> Sequence[SimilarSkills]:
        """Compare a skill that has not been written yet with all others."""
        by_letters = await self._letters.near(name, description, skills)
        measure = await self._measure(skills, {"": description_text(name, description)})
        if measure is None:
            return by_letters
        degrees = sorted(
            ((measure.similarity("", skill.folder), skill.name) for skill in skills), reverse=True
        )
        near = [other for degree, other in degrees[:MAX_SIMILAR] if degree >= DUPLICATE_THRESHOLD]
        return _merge_pairs(by_letters, [SimilarSkills(name, other, IN_MEANING) for other in near])

    async def about(self, words: str, skills: Sequence[Skill]) -> Sequence[Skill]:
        """Return the skills related to some words, nearest first, or none if no model is available."""
        meaning, measure = self._meaning(), await self._measure(skills)
        if meaning is None or measure is None:
            return ()
        try:
            (vector,) = await meaning.embedder.embed([words], "query")
        except HermesError as error:
            self._tell(error)
            return ()
        degrees = {skill.folder: measure.surprise(vector, skill.folder) for skill in skills}
        return sorted(
            (skill for skill in skills if degrees[skill.folder] >= FIT_THRESHOLD),
            key=lambda each: -degrees[each.folder],
        )

    async def _measure(
        self, skills: Sequence[Skill], more: Mapping[str, str] | None = None
    ) -> SimilarityMeasure | None:
        """Create the measure for the skills and `more` texts, or return None if no model answers in time."""
        meaning = self._meaning()
        if meaning is None or not skills:
            return None
        try:
            with anyio.move_on_after(COMPARE_TIMEOUT_S):
                await index_skills(meaning.indexer, skills)
                kept = await meaning.vectors.vectors("skill", [skill.folder for skill in skills])
                generic_prompts = (await meaning.vectors.vectors("anchor")).get(GENERIC_PROMPT_SOURCE, [])
                vectors = {folder: each[DESCRIPTION] for folder, each in kept.items() if each}
                texts = dict(more or {})
                if texts:
                    made = await meaning.embedder.embed(list(texts.values()), "passage")
                    vectors |= dict(zip(texts, made, strict=True))
                if len(generic_prompts) >= MIN_GENERIC_PROMPTS and len(vectors) == len(skills) + len(texts):
                    return await run_sync(SimilarityMeasure, vectors, generic_prompts)
        except HermesError as error:
            self._tell(error)
        return None


def _merge_pairs(first: Sequence[SimilarSkills], second: Sequence[SimilarSkills]) -> list[SimilarSkills]:
    """Merge the results of two measures without duplicates."""
    known = {frozenset((each.one, each.other)) for each in first}
    return [*first, *(each for each in second if frozenset((each.one, each.other)) not in known)]
