"""Map a text to one byte per character, to find long runs and sequences of classes much faster than with patterns.

A pattern that starts with a character class is tried at every such character. Most texts contain no match, which the
map shows in two passes over bytes.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final

BEYOND: Final = "?"
"""The character that represents any character beyond Latin-1, as well as itself."""

UNPARTED_SIGNS: Final = "".join(chr(code) for code in range(256) if not chr(code).isspace())
"""All characters except whitespace."""

IN, OUT = b"\1", b"\0"


@cache
def character_class(signs: str, kept: str = "") -> bytes:
    """Build a table for `translate` from the characters in the class, those not in it, and those kept unchanged."""
    inside = frozenset(signs.encode("latin-1"))
    as_it_is = frozenset(kept.encode("latin-1"))
    return bytes(code if code in as_it_is else IN[0] if code in inside else OUT[0] for code in range(256))


class CharacterMap:
    """The map of one text, with the same offsets as the text."""

    def __init__(self, text: str) -> None:
        self._signs = text.encode("latin-1", "replace")

    def holds(self, letters: bytes) -> bool:
        """Return whether a sequence of letters, passed in lower case, occurs in the text in any case."""
        return letters in self._signs.lower()

    def count(self, signs: str) -> int:
        """Return the number of occurrences of the given characters."""
        return self._signs.translate(character_class(signs)).count(IN)

    def has_run(self, signs: str, least: int) -> bool:
        """Return whether there is a run of at least `least` of the given characters."""
        return IN * least in self._signs.translate(character_class(signs))

    def has_shape(self, signs: str, shape: bytes) -> bool:
        """Return whether a sequence of characters in the class, each written as `IN`, and of blanks occurs."""
        return shape in self._signs.translate(character_class(signs, " "))

    def runs_of(self, signs: str, least: int) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each maximal run of at least `least` of the given characters."""
        marks = self._signs.translate(character_class(signs)) + OUT
        long_run = IN * least
        start = marks.find(long_run)
        while start >= 0:
            end = marks.find(OUT, start + least)
            yield start, end
            start = marks.find(long_run, end)
