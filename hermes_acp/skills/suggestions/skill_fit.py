"""Decide which skills semantically fit a prompt.

A skill's similarity to the prompt is compared with its similarity to everyday prompts. It must exceed their mean by
enough standard deviations that `bench/recall.py` finds hardly any false suggestions, so no threshold depends on a
model's scale.
"""

from array import array
from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import Final

from hermes_acp.core.ports.embedding_ports import cosine_similarity

FIT_THRESHOLD: Final = 1.7
MAX_NAMED: Final = 2
MIN_DEVIATION: Final = 0.01
"""The smallest standard deviation used; a smaller one would make the measure noise."""
SECOND_FIT_MARGIN: Final = 0.8
"""The share of the best skill's score that a second skill must reach."""
MIN_GENERIC_PROMPTS: Final = 8


def standard_deviations_above(
    prompt: "array[float]", skill: "array[float]", generic_prompts: "Sequence[array[float]]"
) -> float:
    """Return by how many standard deviations a skill is nearer to a prompt than to everyday prompts."""
    usual = [cosine_similarity(skill, anchor) for anchor in generic_prompts]
    return (cosine_similarity(skill, prompt) - fmean(usual)) / max(pstdev(usual), MIN_DEVIATION)


def fitting(surprises: dict[str, float], least: float = FIT_THRESHOLD) -> list[str]:
    """Return the one or two names that fit, best first; none if no skill stands out."""
    ranked = sorted(((value, name) for name, value in surprises.items() if value >= least), reverse=True)
    return [name for value, name in ranked[:MAX_NAMED] if value >= SECOND_FIT_MARGIN * ranked[0][0]]
