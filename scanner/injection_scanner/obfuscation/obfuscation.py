"""The deobfuscated text of a passage and how reliable it is."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct

from injection_scanner.text.word_marks import DISGUISES

LONG: Final = 4
"""The minimum length of a meaningful word; shorter ones occur by chance."""

MIN_WORDS: Final = 2
MIN_JOINED: Final = 5
LONG_WORDS: Final = 14
"""The average word length above which words may be several words run together."""

MAX_QUOTED: Final = 6
MIN_OBFUSCATED: Final = 2
"""The minimum number of words that look obfuscated in an obfuscated passage."""
SHOWN_BY_WORDS: Final = frozenset(
    (
        *("leet", "markup in words", "markup through words", "mirror", "atbash", "pig", "keys"),
        *("letters padded", "column"),
    )
)


class Obfuscation(Struct, frozen=True):
    """The obfuscation of a passage, and its plain text. Benign text may look obfuscated by chance."""

    how: str
    text: str

    @property
    def is_certain(self) -> bool:
        """Whether benign text never looks like this."""
        return self.how not in ("leet", "markup in words", "jumbled", "pieces", "column", "words joined")

    @property
    def is_spaced_prose(self) -> bool:
        """Whether so many single letters, including a language's vowels, occur that the text must be prose."""
        return self.how == "prose parted"

    def makes_words(self, tokens: Iterable[str], is_word: Callable[[str], bool]) -> bool:
        """Return whether the `tokens` contain long words, as any deliberately obfuscated text does.

        Random letters match every kind of obfuscation. Obfuscations without gaps between words are not checked.
        """
        if not self.text.isascii() or not (self.how in SHOWN_BY_WORDS or self.how.startswith("shift")):
            return True
        return sum(map(is_word, {token for token in tokens if len(token) >= LONG})) >= MIN_WORDS


def looks_obfuscated(passage: str, tokens: list[str], marks: list[str]) -> bool:
    """Return whether a passage has characters that split words, words that look split or joined, or odd words."""
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
