"""What a passage says when its disguise is undone.

Knows: how sure a disguise is. Does not know: how it is undone, whether what comes out is an attack.
"""

from msgspec import Struct


class Disguise(Struct, frozen=True):
    """How the words of a passage are disguised, and what they say; honest text may look disguised by chance."""

    how: str
    text: str

    @property
    def is_certain(self) -> bool:
        """Whether nothing honest looks so."""
        return self.how not in ("leet", "markup in words", "jumbled", "pieces", "words joined")

    @property
    def is_prose_parted(self) -> bool:
        """Whether so many letters stand alone, with the vowels of a language among them, that it must be prose."""
        return self.how == "prose parted"
