"""What a rule shuts off from whatever runs without anybody being asked.

Knows: the shape of that, as patterns of paths. Does not know: who laid the rule down, how it is enforced.
"""

import re
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class DeniedPath(Struct, frozen=True):
    """Paths that are shut: `pattern` fits whole paths, `anchor` is the folder beneath which all of them lie.

    Both are in lower case, as no case helps against a rule. What a closure `hides` is not read either. `named` is the
    path itself where the rule has no pattern.
    """

    pattern: str
    anchor: str
    hides: bool = True
    named: str = ""

    def matches(self, path: str) -> bool:
        """Return whether a path is shut itself; what lies beneath a shut one is so with it."""
        return re.fullmatch(self.pattern, path.casefold(), re.DOTALL) is not None

    def covers(self, path: str) -> bool:
        """Return whether a path (absolute, resolved) is shut, itself or with a folder that it lies in."""
        parts = path.split("/")
        return any(self.matches("/".join(parts[:end]) or "/") for end in range(1, len(parts) + 1))

    def may_match_below(self, folder: str) -> bool:
        """Return whether something in a folder, however deep, could fit."""
        near, far = folder.casefold().rstrip("/") + "/", self.anchor.rstrip("/") + "/"
        return near.startswith(far) or far.startswith(near)

    def is_above(self, folder: str) -> bool:
        """Return whether a folder's own name is part of what the rule names: under another one nothing would fit."""
        return self.anchor.startswith(folder.casefold().rstrip("/") + "/")


class DeniedPathLookup(Protocol):
    """Gives what rules keep some tools out of, for sessions in a place, whose files may be in a `folder` elsewhere."""

    def __call__(self, place: str, tools: Sequence[str], folder: str = "") -> tuple[DeniedPath, ...]:
        """Look it up, as it is at that moment."""
        ...
