"""Measure how similar the names and descriptions of skills are in wording, without a model.

A semantic measure, such as a vector index, is also a `SkillSimilarityMeasure` (`skill_similarity`). Source:
TF-IDF over character n-grams (Manning, Raghavan, Schütze: Introduction to Information Retrieval, chapter 6).
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.lazy_pattern import LazyPattern
from hermes_acp.skills.skill_collection import Skill

SIMILARITY_THRESHOLD: Final = 0.55
MAX_SIMILAR: Final = 3
NGRAM_LENGTH: Final = 4
WORD: Final = LazyPattern(r"[^\W_]+")
STOP_WORDS: Final = LazyPattern(
    r"(?:a|an|and|are|as|at|be|by|for|from|has|how|in|into|is|it|its|of|on|or|so|that|the|their|then|this|"
    r"to|use|used|using|user|users|want|wants|was|what|when|where|which|who|will|with|you|your|skill|skills)"
)


class SimilarSkills(Struct, frozen=True):
    """The names of two similar skills, and a phrase that describes the measure that found them."""

    one: str
    other: str
    how: str


class SkillSimilarityMeasure(Protocol):
    """A measure of the similarity of skills."""

    async def pairs(self, skills: Sequence[Skill]) -> Sequence[SimilarSkills]:
        """Return the similar pairs among the skills, most similar first."""
        ...

    async def near(self, name: str, description: str, skills: Sequence[Skill]) -> Sequence[SimilarSkills]:
        """Return the skills similar to one that has not been written yet, most similar first."""
        ...


class LexicalSimilarity:
    """Compares names and descriptions by character n-grams."""

    async def pairs(self, skills: Sequence[Skill]) -> Sequence[SimilarSkills]:
        """Compare all pairs, in a worker thread."""
        texts = {skill.name: f"{skill.name} {skill.document.description}" for skill in skills}
        found = await run_sync(similar_pairs, texts)
        return [SimilarSkills(one, other, _share(degree)) for one, other, degree in found]

    async def near(self, name: str, description: str, skills: Sequence[Skill]) -> Sequence[SimilarSkills]:
        """Compare a skill with all others in a worker thread."""
        others = [f"{skill.name} {skill.document.description}" for skill in skills]
        degrees = await run_sync(lexical_similarities, f"{name} {description}", others)
        ranked = sorted(zip(degrees, (skill.name for skill in skills), strict=True), reverse=True)
        near = [(degree, other) for degree, other in ranked[:MAX_SIMILAR] if degree >= SIMILARITY_THRESHOLD]
        return [SimilarSkills(name, other, _share(degree)) for degree, other in near]


def _share(degree: float) -> str:
    return f"({degree:.0%})"


def lexical_similarities(text: str, others: Sequence[str]) -> Sequence[float]:
    """Return the share of n-grams that a text has in common with each of the others. Rare n-grams count more."""
    first, *rest = _vectors([text, *others])
    return [sum(weight * vector.get(group, 0.0) for group, weight in first.items()) for vector in rest]


def similar_pairs(
    texts: Mapping[str, str], least: float = SIMILARITY_THRESHOLD
) -> list[tuple[str, str, float]]:
    """Return the similar pairs, by name, most similar first."""
    names = list(texts)
    holders: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    found: list[tuple[str, str, float]] = []
    for number, vector in enumerate(_vectors(list(texts.values()))):
        degrees: defaultdict[int, float] = defaultdict(float)
        for group, weight in vector.items():
            for earlier, other in holders[group]:
                degrees[earlier] += weight * other
            holders[group].append((number, weight))
        found += [
            (names[earlier], names[number], degree) for earlier, degree in degrees.items() if degree >= least
        ]
    return sorted(found, key=lambda pair: -pair[2])


def _vectors(texts: Sequence[str]) -> list[dict[str, float]]:
    bags = [_bag(each) for each in texts]
    known = Counter(group for bag in bags for group in bag)
    weights = {group: 1.0 + math.log(len(bags) / count) for group, count in known.items()}
    return [_weighted(bag, weights) for bag in bags]


def _bag(text: str) -> Counter[str]:
    """Count the words and their n-grams, so that word endings have little weight."""
    groups: Counter[str] = Counter()
    for word in WORD.compiled.findall(text.casefold()):
        if STOP_WORDS.compiled.fullmatch(word):
            continue
        groups[word] += 1
        padded = f" {word} "
        groups.update(
            padded[start : start + NGRAM_LENGTH] for start in range(max(1, len(padded) - NGRAM_LENGTH + 1))
        )
    return groups


def _weighted(bag: Counter[str], weights: Mapping[str, float]) -> dict[str, float]:
    vector = {group: (1.0 + math.log(count)) * weights[group] for group, count in bag.items()}
    length = math.sqrt(sum(weight * weight for weight in vector.values())) or 1.0
    return {group: weight / length for group, weight in vector.items()}
