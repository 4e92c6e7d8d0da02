"""Discount repetition in a text, because repeated lines of a log or a list are not new evidence.

Lines that differ only in numbers and punctuation count as repeated.
"""

import re
from typing import Final

from injection_scanner.text.text_tokens import tokenize

WIDTH: Final = 3
"""The number of words in sequence that count as a repetition if they occurred before."""

MOSTLY_NEW: Final = 0.5
VARYING: Final = re.compile(r"[\d\W_]+")
"""Characters that differ between the lines of a log: numbers, bars, punctuation."""


class Repetition:
    """The part of one text read so far."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, ...]] = set()

    def discounted(self, weighed: tuple[int, int], passage: str) -> tuple[int, int]:
        """Return a passage's weight and number of tokens, reduced by the share that repeats earlier words.

        Prose repeats itself too, so the whole passage counts if most of it is new or if its weight speaks for the text.
        """
        weight, count = weighed
        if weight <= 0:
            return weighed
        words = [VARYING.sub("0", token) for token in tokenize(passage)]
        runs = [tuple(words[at : at + WIDTH]) for at in range(max(1, len(words) - WIDTH + 1))]
        before = len(self._seen)
        self._seen.update(runs)
        share = (len(self._seen) - before) / len(runs)
        if share > MOSTLY_NEW:
            return weighed
        return int(weight * share), int(count * share)


def shape_of(passage: str) -> str:
    """Return the part of a passage that is equal in passages that differ only in numbers and punctuation."""
    return VARYING.sub(" ", passage)
