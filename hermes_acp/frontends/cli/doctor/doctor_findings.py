"""What a check found."""

from typing import Literal

from msgspec import Struct

Level = Literal["fine", "note", "problem"]


class Finding(Struct, frozen=True):
    """The result of a check: fine, worth knowing, or in need of action, with the remedy."""

    check: str
    level: Level
    text: str
    hint: str = ""
