"""What a passage says when its disguise is undone.

Knows: how sure a disguise is. Does not know: how it is undone, whether what comes out is an attack.
"""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import Struct

LONG: Final = 4
"""Words of fewer letters come about by chance."""

LEAST_WORDS: Final = 2
SHOWN_BY_WORDS: Final = frozenset(
    (
        *("leet", "markup in words", "markup through words", "mirror", "atbash", "pig", "keys"),
        *("letters padded", "column"),
    )
)


class Disguise(Struct, frozen=True):
    """How the words of a passage are disguised, and what they say; honest text may look disguised by chance."""

    how: str
    text: str

    @property
    def is_certain(self) -> bool:
        """Whether nothing honest looks so."""
        return self.how not in ("leet", "markup in words", "jumbled", "pieces", "column", "words joined")

    @property
    def is_prose_parted(self) -> bool:
        """Whether so many letters stand alone, with the vowels of a language among them, that it must be prose."""
        return self.how == "prose parted"

    def makes_words(self, tokens: Iterable[str], is_word: Callable[[str], bool]) -> bool:
        """Tell whether long words are among its `tokens`, as they are wherever somebody disguised some.

        Letters at random look disguised in every way. What leaves no gaps between words is not asked.
        """
        if not self.text.isascii() or not (self.how in SHOWN_BY_WORDS or self.how.startswith("shift")):
            return True
        return sum(map(is_word, {token for token in tokens if len(token) >= LONG})) >= LEAST_WORDS
