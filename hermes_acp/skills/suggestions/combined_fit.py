"""Decide which skills to suggest, given how well they fit by words and by meaning.

`python -m bench.skill_search` measures the effect of the thresholds.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from hermes_acp.skills.suggestions.skill_fit import Meaning

MEANING_WEIGHT: Final = 0.4
"""The weight of a standard deviation in meaning relative to the score by words, when deciding what to suggest."""
MEANING_RANK_WEIGHT: Final = 2.0
"""The same weight for the order of the skills; it is higher because meaning distinguishes skills that share words."""
MIN_SCORE: Final = 3.5
LIKELY_SCORE: Final = 6.0
MEANING_ALONE: Final = 3.0
"""The standard deviations that suffice to suggest a skill regardless of words, as in another language.
"""
MAX_SUGGESTED: Final = 3
NO_MEANING: Final = Meaning(0.0, 0.0)
FURTHER_SHARE: Final = 0.6
"""The fraction of the best skill's score that another skill must reach."""


class SkillFit(Struct, frozen=True):
    """A skill, by its number, with the degree to which it fits a prompt.

    `score` decides whether it is suggested, `rank` decides the order, and `meaning` is in standard deviations.
    """

    number: int
    score: float
    meaning: float
    rank: float


def fitting_skills(words: Mapping[int, float], meanings: Mapping[int, Meaning]) -> list[SkillFit]:
    """Return the skills to suggest, best first."""
    ranked = ranked_skills(words, meanings)
    fits = [each for each in ranked if each.score >= MIN_SCORE or each.meaning >= MEANING_ALONE]
    return [each for each in fits[:MAX_SUGGESTED] if each.rank >= FURTHER_SHARE * fits[0].rank]


def ranked_skills(words: Mapping[int, float], meanings: Mapping[int, Meaning]) -> list[SkillFit]:
    """Return all skills that have a score, best first."""
    found = [
        _fit(number, words.get(number, 0.0), meanings.get(number, NO_MEANING))
        for number in dict.fromkeys((*words, *meanings))
    ]
    return sorted(found, key=lambda each: (-each.rank, each.number))


def _fit(number: int, words: float, meaning: Meaning) -> SkillFit:
    score = words + MEANING_WEIGHT * meaning.deviations
    return SkillFit(number, score, meaning.deviations, words + MEANING_RANK_WEIGHT * meaning.closeness)


def is_likely(fit: SkillFit) -> bool:
    """Return whether a skill fits well enough to notify the user too."""
    return fit.score >= LIKELY_SCORE or fit.meaning >= MEANING_ALONE
