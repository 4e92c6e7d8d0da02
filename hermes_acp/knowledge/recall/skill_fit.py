"""Which skills fit a prompt, by what both mean.

Knows: when a skill is so near to a prompt that it is worth a word. Does not know: what makes vectors, who is told.
Nearness is measured against how near the same skill is to everyday prompts: so many standard deviations above their
mean that `bench/recall.py` finds hardly a false word. That way no threshold hangs on one model's scale.
"""

from array import array
from collections.abc import Sequence
from statistics import fmean, pstdev
from typing import Final

from hermes_acp.core.meaning import cosine

FITS: Final = 1.7
MOST_NAMED: Final = 2
NARROWEST: Final = 0.01
"""The least standard deviation that is believed; below it the measure would be noise."""
ALSO_FITS: Final = 0.8
"""The share of the best one's distance that a second one must reach."""
FEWEST_ANCHORS: Final = 8


def surprise(prompt: "array[float]", skill: "array[float]", anchors: "Sequence[array[float]]") -> float:
    """Tell by how many standard deviations a skill is nearer to a prompt than to what people ask all day."""
    usual = [cosine(skill, anchor) for anchor in anchors]
    return (cosine(skill, prompt) - fmean(usual)) / max(pstdev(usual), NARROWEST)


def fitting(surprises: dict[str, float], least: float = FITS) -> list[str]:
    """Give the one or two names that fit, the best first; none where nothing stands out."""
    ranked = sorted(((value, name) for name, value in surprises.items() if value >= least), reverse=True)
    return [name for value, name in ranked[:MOST_NAMED] if value >= ALSO_FITS * ranked[0][0]]
