"""Return what a passage says after deobfuscation."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct

from injection_scanner.text.word_marks import DISGUISES

LONG: Final = 4
"""Words of fewer letters come about by chance."""

MIN_WORDS: Final = 2
MIN_JOINED: Final = 5
LONG_WORDS: Final = 14
"""Words that are longer on the average may be several run together."""

MAX_QUOTED: Final = 6
MIN_OBFUSCATED: Final = 2
"""So many words at least look disguised where a passage is."""
SHOWN_BY_WORDS: Final = frozenset(
    (
        *("leet", "markup in words", "markup through words", "mirror", "atbash", "pig", "keys"),
        *("letters padded", "column"),
    )
)


class Obfuscation(Struct, frozen=True):
    """How the words of a passage are disguised, and what they say; honest text may look disguised by chance."""

    how: str
    text: str

    @property
    def is_certain(self) -> bool:
        """Whether nothing honest looks so."""
        return self.how not in ("leet", "markup in words", "jumbled", "pieces", "column", "words joined")

    @property
    def is_spaced_prose(self) -> bool:
        """Whether so many letters stand alone, with the vowels of a language among them, that it must be prose."""
        return self.how == "prose parted"

    def makes_words(self, tokens: Iterable[str], is_word: Callable[[str], bool]) -> bool:
        """Return whether long words are among its `tokens`, as they are wherever somebody disguised some.

        Letters at random look disguised in every way. What leaves no gaps between words is not asked.
        """
        if not self.text.isascii() or not (self.how in SHOWN_BY_WORDS or self.how.startswith("shift")):
            return True
        return sum(map(is_word, {token for token in tokens if len(token) >= LONG})) >= MIN_WORDS


def looks_obfuscated(passage: str, tokens: list[str], marks: list[str]) -> bool:
    """Return whether a passage has signs that part words, words that look parted or joined, or odd words."""
    return (
        "<" in passage
        or "\\" in passage
        or "__" in passage
        or "~~" in passage
        or passage.count("`") > MAX_QUOTED
        or passage.count(" ") * 2 < len(tokens) > MIN_JOINED
        or len(passage) > LONG_WORDS * len(tokens)
        or (tokens[0].isascii() and len(tokens[0]) == len(tokens[1]) == len(tokens[2]) == len(tokens[3]))
        or len([mark for mark in marks if mark in DISGUISES]) >= MIN_OBFUSCATED
    )
