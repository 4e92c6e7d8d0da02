"""Rank skills by the words of a prompt, using word stems, related words, and phrases with the meaning of a word.

The fewer skills and everyday prompts contain a word, the more it counts. A form that only resembles a word of the
prompt counts less. Source: Robertson, Zaragoza: The Probabilistic Relevance Framework: BM25 and Beyond (2009), section
3.6 (fields).
"""

import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final

from hermes_acp.lazy_pattern import LazyPattern
from hermes_acp.skills.suggestions.generic_prompts import GENERIC_PROMPTS
from hermes_acp.skills.suggestions.related_words import (
    EVERYDAY_WORDS,
    PHRASAL_VERBS,
    PHRASES,
    RELATED_WORDS,
    STOP_WORDS,
)
from hermes_acp.skills.suggestions.topic_words import TOPIC_WORDS
from hermes_acp.storage.search.search_queries import fold, separate_words

FIELD_WEIGHTS: Final = (2.0, 2.0, 1.5)
"""The weights of a skill's name, description and text."""
SATURATION: Final = 1.2
EVERYDAY_COUNT: Final = 4
"""The number of everyday prompts assumed to contain an everyday word, when computing its rarity."""
RELATED_WEIGHT: Final = 0.7
TOPIC_WEIGHT: Final = 0.4
PREFIX_WEIGHT: Final = 0.6
CORRECTED_WEIGHT: Final = 0.8
"""The weight of a word that is one typing error away from a known one."""
FILE_NAME_WEIGHT: Final = 0.5
"""The weight of a word in a file name, because `billing.py` says little about billing."""
FURTHER_FORMS_WEIGHT: Final = 0.3
POSITION_DECAY: Final = 0.03
"""The decay of weights along the prompt, because the request usually comes first."""
MIN_PREFIX: Final = 5
MIN_STEM: Final = 3
MIN_CORRECTED: Final = 5
MAX_STEMS: Final = 20_000
"""The maximum number of cached stems."""
LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
MAX_BETWEEN: Final = 4
"""The maximum number of words between the two words of a phrasal verb."""
MAX_TEXT_CHARACTERS: Final = 2_000
MAX_PROMPT_WORDS: Final = 60
_WORD: Final = LazyPattern(r"[^\W_]+")
_CAMEL: Final = LazyPattern(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_DURATION: Final = LazyPattern(
    r"\b\d+ ?(?:ms|s|secs?|seconds?|mins?|minutes?|hours?|h|days?)\b", re.IGNORECASE
)
_FILE_NAME: Final = LazyPattern(r"\b[\w-]+(?=\.[a-z][a-z0-9]{0,4}\b)", re.IGNORECASE)
_ENDINGS: Final = (
    *("ization", "isation", "izing", "ising", "ized", "ised", "ize", "ise"),
    *("ations", "ation", "ating", "ated", "ates", "ate", "ments", "ment", "ities", "ity"),
    *("ions", "ion", "ings", "ing", "ness", "ers", "er", "ed", "ly", "ies", "ied", "es", "s", "e", "y"),
)
_INFLECTIONS: Final = ("s", "es", "ed", "ing", "d", "ly")


class WordRanking:
    """An index of skills' names, descriptions and texts. Building it takes about 0.3 ms per skill."""

    def __init__(self, documents: Sequence[tuple[str, str, str]]) -> None:
        self._weights: dict[str, dict[int, float]] = {}
        for number, (name, description, text) in enumerate(documents):
            fields = (name.replace("-", " "), description, text[:MAX_TEXT_CHARACTERS])
            for weight, field in zip(FIELD_WEIGHTS, fields, strict=True):
                for word in map(stem, words_of(field)):
                    held = self._weights.setdefault(word, {})
                    held[number] = held.get(number, 0.0) + weight
        everyday = Counter(
            word for prompt in GENERIC_PROMPTS for word in dict.fromkeys(map(stem, words_of(prompt)))
        )
        everyday.update(dict.fromkeys(map(stem, EVERYDAY_WORDS), EVERYDAY_COUNT))
        self._everyday: Mapping[str, int] = everyday
        self._count = len(documents) + len(GENERIC_PROMPTS)
        self._vocabulary = sorted(self._weights)

    def scores(self, prompt: str) -> dict[int, float]:
        """Return the skills' scores for a prompt, by number. Skills without any of its words are left out."""
        found: dict[int, float] = {}
        in_file_names = set(words_of(" ".join(_FILE_NAME.compiled.findall(prompt))))
        for position, word in enumerate(dict.fromkeys(words_of(prompt)[:MAX_PROMPT_WORDS])):
            weight = FILE_NAME_WEIGHT if word in in_file_names else 1.0
            known = self._corrected(word)
            weight *= CORRECTED_WEIGHT if known != word else 1.0
            for number, score in self._scores_of(known).items():
                found[number] = found.get(number, 0.0) + score * weight / (1.0 + POSITION_DECAY * position)
        return found

    def _corrected(self, word: str) -> str:
        """Return a known word unchanged; correct an unknown one if only one known word is one typing error away."""
        if len(word) < MIN_CORRECTED or self._is_known(word):
            return word
        found = {stem(each): each for each in _one_error_away(word) if self._is_known(each)}
        return next(iter(found.values())) if len(found) == 1 else word

    def _is_known(self, word: str) -> bool:
        own = stem(word)
        if own in self._weights or own in self._everyday or word in STOP_WORDS:
            return True
        return bool(_near(word, RELATED_WORDS) or _near(word, TOPIC_WORDS))

    def _scores_of(self, word: str) -> dict[int, float]:
        """Return the scores that one word of a prompt adds to skills, mostly for its best form."""
        found: dict[int, float] = {}
        rarity = self._rarity(stem(word))
        for form, weight in self._forms(word):
            for number, held in self._weights.get(form, {}).items():
                score = weight * min(rarity, self._rarity(form)) * held / (held + SATURATION)
                less, more = sorted((score, found.get(number, 0.0)))
                found[number] = more + FURTHER_FORMS_WEIGHT * less
        return found

    def _forms(self, word: str) -> Iterator[tuple[str, float]]:
        own = stem(word)
        yield own, 1.0
        if own not in self._weights and len(own) >= MIN_PREFIX:
            yield from ((other, PREFIX_WEIGHT) for other in self._with_prefix(own))
        yielded = {own}
        for other in _near(word, RELATED_WORDS):
            yielded.add(stem(other))
            yield stem(other), RELATED_WEIGHT
        for other in _near(word, TOPIC_WORDS):
            if stem(other) not in yielded:
                yielded.add(stem(other))
                yield stem(other), TOPIC_WEIGHT

    def _rarity(self, word: str) -> float:
        held = len(self._weights.get(word, ())) + self._everyday.get(word, 0)
        return math.log(1.0 + (self._count - held + 0.5) / (held + 0.5))

    def _with_prefix(self, word: str) -> Iterator[str]:
        for position in range(bisect_left(self._vocabulary, word), len(self._vocabulary)):
            if not self._vocabulary[position].startswith(word):
                break
            yield self._vocabulary[position]


@lru_cache(maxsize=MAX_STEMS)
def stem(word: str) -> str:
    """Return the stem of an English word, which is equal for most forms of a word."""
    if not word.endswith(("ss", "ay", "ey", "oy", "uy")):
        ending = next(
            (each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= MIN_STEM), ""
        )
        word = word.removesuffix(ending)
    if len(word) > MIN_STEM and word[-1] == word[-2] and word[-1] not in "sl":
        return word[:-1]
    return word.removesuffix("e") if len(word) > MIN_STEM + 1 else word


def words_of(text: str) -> list[str]:
    """Return the meaningful words in a text, followed by the meanings of its phrases."""
    words = _WORD.compiled.findall(
        fold(separate_words(_CAMEL.compiled.sub(" ", _DURATION.compiled.sub(" duration ", text))))
    )
    found = [word for word in words if len(word) > 1 and word not in STOP_WORDS and not word.isdigit()]
    for start, word in enumerate(words):
        for phrase, meaning in PHRASES.get(word, ()):
            if tuple(words[start : start + len(phrase)]) == phrase:
                found += meaning
        for last, meaning in PHRASAL_VERBS.get(word, ()):
            if last in words[start + 1 : start + 2 + MAX_BETWEEN]:
                found += meaning
    return found


def _near(word: str, table: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """Return a table's entry for a word, or for the word without its inflection."""
    for form in (word, *(word.removesuffix(ending) for ending in _INFLECTIONS if word.endswith(ending))):
        if form in table:
            return table[form]
    return ()


def _one_error_away(word: str) -> Iterator[str]:
    """Yield the variants of a word with one letter omitted, swapped with the next, replaced or added."""
    for at in range(len(word) + 1):
        before, behind = word[:at], word[at:]
        if behind:
            yield before + behind[1:]
            yield from (before + letter + behind[1:] for letter in LETTERS)
        if len(behind) > 1:
            yield before + behind[1] + behind[0] + behind[2:]
        yield from (before + letter + behind for letter in LETTERS)
