"""Decide which skills semantically fit a prompt.

A skill's similarity to the prompt is compared with its similarities to everyday prompts. It must exceed their mean by a
number of standard deviations at which `bench/recall.py` finds hardly any false suggestions. This makes the threshold
independent of the model's scale.
"""

import math
from array import array
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from hermes_acp.core.ports.embedding_ports import cosine_similarity

FIT_THRESHOLD: Final = 1.7
MIN_DEVIATION: Final = 0.01
"""The smallest standard deviation used; with a smaller one, the measure would be dominated by noise."""
MIN_GENERIC_PROMPTS: Final = 8


class Meaning(Struct, frozen=True):
    """The similarity of a skill to a prompt, in standard deviations above the mean for everyday prompts.

    `deviations` uses the skill's own standard deviation and decides whether it fits. `closeness` uses that of all
    skills together and decides the order; otherwise a skill whose similarities hardly vary would win over better ones.
    """

    deviations: float
    closeness: float


def standard_deviations_above(
    prompt: "array[float]", skill: "array[float]", generic_prompts: "Sequence[array[float]]"
) -> float:
    """Return by how many standard deviations a skill is more similar to a prompt than to everyday prompts."""
    mean, deviation = mean_and_deviation(_similarities(skill, generic_prompts))
    return (cosine_similarity(skill, prompt) - mean) / deviation


def mean_and_deviation(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of values and their standard deviation, which is at least MIN_DEVIATION."""
    mean = _mean(values)
    return mean, max(math.sqrt(_variance(values, mean)), MIN_DEVIATION)


def compare_meanings(
    prompt: "array[float]",
    skills: "Mapping[int, Sequence[array[float]]]",
    generic_prompts: "Sequence[array[float]]",
) -> dict[int, Meaning]:
    """Return the similarities of skills to a prompt, by number; each skill's last vector is that of its whole text."""
    if not skills:
        return {}
    usual = {
        number: [_similarities(vector, generic_prompts) for vector in vectors]
        for number, vectors in skills.items()
    }
    scales = [_scale([rows[at] for rows in usual.values()]) for at in range(min(map(len, usual.values())))]
    found: dict[int, Meaning] = {}
    for number, vectors in skills.items():
        own = [cosine_similarity(vector, prompt) for vector in vectors]
        mean, deviation = mean_and_deviation(usual[number][-1])
        deviations = (own[-1] - mean) / deviation
        closeness = _mean([(near - mean) / scale for near, (mean, scale) in zip(own, scales, strict=False)])
        found[number] = Meaning(deviations, closeness)
    return found


def _similarities(skill: "array[float]", generic_prompts: "Sequence[array[float]]") -> list[float]:
    return [cosine_similarity(skill, anchor) for anchor in generic_prompts]


def _scale(rows: Sequence[Sequence[float]]) -> tuple[float, float]:
    """Return the mean of skills' similarities to everyday prompts, and their deviation around each skill's mean."""
    means = [_mean(row) for row in rows]
    deviation = math.sqrt(_mean([_variance(row, mean) for row, mean in zip(rows, means, strict=True)]))
    return _mean(means), max(deviation, MIN_DEVIATION)


# `statistics` calculates with fractions, which is many times slower, and importing it takes milliseconds.
def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def _variance(values: Sequence[float], mean: float) -> float:
    return math.fsum((value - mean) ** 2 for value in values) / len(values)
