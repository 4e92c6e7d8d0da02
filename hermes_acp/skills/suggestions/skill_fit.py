"""Decide which skills semantically fit a prompt.

A skill's similarity to the prompt is compared with its similarity to everyday prompts. It must exceed their mean by a
number of standard deviations at which `bench/recall.py` finds hardly any false suggestions. So no threshold depends on
a model's scale.
"""

import math
from array import array
from collections.abc import Mapping, Sequence
from statistics import fmean, pstdev, pvariance
from typing import Final

from msgspec import Struct

from hermes_acp.core.ports.embedding_ports import cosine_similarity

FIT_THRESHOLD: Final = 1.7
MIN_DEVIATION: Final = 0.01
"""The smallest standard deviation used; a smaller one would make the measure noise."""
MIN_GENERIC_PROMPTS: Final = 8


class Meaning(Struct, frozen=True):
    """How near a skill is to a prompt, in standard deviations above what is usual for everyday prompts.

    `deviations` are the skill's own and decide whether it fits. `closeness` uses those of all skills together and
    decides the order: with its own, a skill whose similarities hardly vary would win over better ones.
    """

    deviations: float
    closeness: float


def standard_deviations_above(
    prompt: "array[float]", skill: "array[float]", generic_prompts: "Sequence[array[float]]"
) -> float:
    """Return how many standard deviations nearer a skill is to a prompt than to everyday prompts."""
    usual = [cosine_similarity(skill, anchor) for anchor in generic_prompts]
    return (cosine_similarity(skill, prompt) - fmean(usual)) / max(pstdev(usual), MIN_DEVIATION)


def compare_meanings(
    prompt: "array[float]",
    skills: "Mapping[int, Sequence[array[float]]]",
    generic_prompts: "Sequence[array[float]]",
) -> dict[int, Meaning]:
    """Return how near skills are to a prompt, by number; the last vector of each is that of its whole text."""
    if not skills:
        return {}
    positions = range(min(map(len, skills.values())))
    scales = [_usual(tuple(vectors[at] for vectors in skills.values()), generic_prompts) for at in positions]
    return {
        number: Meaning(
            standard_deviations_above(prompt, vectors[-1], generic_prompts),
            fmean(
                (cosine_similarity(vector, prompt) - mean) / deviation
                for vector, (mean, deviation) in zip(vectors, scales, strict=False)
            ),
        )
        for number, vectors in skills.items()
    }


def _usual(
    skills: "Sequence[array[float]]", generic_prompts: "Sequence[array[float]]"
) -> tuple[float, float]:
    """Return the mean similarity of skills and everyday prompts, and its deviation around each skill's own mean."""
    rows = [[cosine_similarity(skill, anchor) for anchor in generic_prompts] for skill in skills]
    deviation = math.sqrt(fmean(pvariance(row) for row in rows))
    return fmean(map(fmean, rows)), max(deviation, MIN_DEVIATION)
