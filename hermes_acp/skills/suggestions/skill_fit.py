"""Decide which skills semantically fit a prompt.

A skill's similarity to the prompt is compared with its similarity to everyday prompts. It must exceed their mean by a
number of standard deviations at which `bench/recall.py` finds hardly any false suggestions. So no threshold depends on
a model's scale.
"""

from array import array
from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import Final

from hermes_acp.core.ports.embedding_ports import cosine_similarity

FIT_THRESHOLD: Final = 1.7
MIN_DEVIATION: Final = 0.01
"""The smallest standard deviation used; a smaller one would make the measure noise."""
MIN_GENERIC_PROMPTS: Final = 8


def standard_deviations_above(
    prompt: "array[float]", skill: "array[float]", generic_prompts: "Sequence[array[float]]"
) -> float:
    """Return how many standard deviations nearer a skill is to a prompt than to everyday prompts."""
    usual = [cosine_similarity(skill, anchor) for anchor in generic_prompts]
    return (cosine_similarity(skill, prompt) - fmean(usual)) / max(pstdev(usual), MIN_DEVIATION)
