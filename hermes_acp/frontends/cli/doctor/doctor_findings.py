"""The type of the checks' findings."""

from typing import Literal

from msgspec import Struct

Level = Literal["fine", "note", "problem"]


class Finding(Struct, frozen=True):
    """A finding: its severity (fine, worth knowing, or in need of action), its text, and the remedy."""

    check: str
    level: Level
    text: str
    hint: str = ""
