"""Find what a mistyped word was meant to be."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Final

MAX_SUGGESTIONS: Final = 3
MIN_SIMILARITY: Final = 0.6


def nearest(word: str, known: Iterable[str], most: int = MAX_SUGGESTIONS) -> list[str]:
    """Return the known words most like a word, the most similar first; also those that begin with it."""
    words = list(dict.fromkeys(known))
    alike = get_close_matches(word, words, most, MIN_SIMILARITY)
    longer = [each for each in words if len(word) > 1 and each.startswith(word)]
    return list(dict.fromkeys((*alike, *longer)))[:most]
