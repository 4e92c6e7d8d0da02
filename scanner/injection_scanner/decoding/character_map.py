"""Map a text to one byte per character, to find long runs and shapes much faster than with patterns.

A pattern that begins with a class of signs is tried at each of them; most texts hold nothing it could find,
and the map tells so by two passes over bytes.
"""

from collections.abc import Iterator
from functools import cache
from typing import Final

BEYOND: Final = "?"
"""What stands for any character beyond Latin 1, besides for itself."""

UNPARTED_SIGNS: Final = "".join(chr(code) for code in range(256) if not chr(code).isspace())
"""All but blanks and line ends."""

IN, OUT = b"\1", b"\0"


@cache
def character_class(signs: str, kept: str = "") -> bytes:
    """Make the class of these signs, for `translate`: what is in it, what is not, and what is kept as it is."""
    inside = frozenset(signs.encode("latin-1"))
    as_it_is = frozenset(kept.encode("latin-1"))
    return bytes(code if code in as_it_is else IN[0] if code in inside else OUT[0] for code in range(256))


class CharacterMap:
    """The map of one text; its offsets are the text's own."""

    def __init__(self, text: str) -> None:
        self._signs = text.encode("latin-1", "replace")

    def holds(self, letters: bytes) -> bool:
        """Return whether some letters stand in the text, in capitals or not; they are given in small ones."""
        return letters in self._signs.lower()

    def count(self, signs: str) -> int:
        """Count some signs."""
        return self._signs.translate(character_class(signs)).count(IN)

    def has_run(self, signs: str, least: int) -> bool:
        """Return whether so many of some signs follow one another."""
        return IN * least in self._signs.translate(character_class(signs))

    def has_shape(self, signs: str, shape: bytes) -> bool:
        """Return whether a shape of signs, each as `IN`, and of blanks occurs."""
        return shape in self._signs.translate(character_class(signs, " "))

    def runs_of(self, signs: str, least: int) -> Iterator[tuple[int, int]]:
        """Yield begin and end of each run of at least so many of some signs, as long as it is."""
        marks = self._signs.translate(character_class(signs)) + OUT
        long_run = IN * least
        start = marks.find(long_run)
        while start >= 0:
            end = marks.find(OUT, start + least)
            yield start, end
            start = marks.find(long_run, end)
