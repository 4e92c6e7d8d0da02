"""Paths that a rule denies to everything that runs without approval."""

import re
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class DeniedPath(Struct, frozen=True):
    """Denied paths: `pattern` matches whole paths; `anchor` is the folder that contains all of them.

    Both are in lower case, so that a change of case cannot bypass a rule. If `hides` is set, reading is denied too.
    `named` is the path itself if the rule has no pattern.
    """

    pattern: str
    anchor: str
    hides: bool = True
    named: str = ""

    def matches(self, path: str) -> bool:
        """Return whether the rule matches this exact path."""
        return re.fullmatch(self.pattern, path.casefold(), re.DOTALL) is not None

    def covers(self, path: str) -> bool:
        """Return whether a path (absolute, resolved) or one of its parent folders is denied."""
        parts = path.split("/")
        return any(self.matches("/".join(parts[:end]) or "/") for end in range(1, len(parts) + 1))

    def may_match_below(self, folder: str) -> bool:
        """Return whether the rule could match anything in a folder, at any depth."""
        near, far = folder.casefold().rstrip("/") + "/", self.anchor.rstrip("/") + "/"
        return near.startswith(far) or far.startswith(near)

    def is_above(self, folder: str) -> bool:
        """Return whether a folder is a parent of the rule's anchor."""
        return self.anchor.startswith(folder.casefold().rstrip("/") + "/")


class DeniedPathLookup(Protocol):
    """Looks up the paths that rules deny to certain tools in sessions that work in `place`.

    `folder` is the location of the files if they are on another machine.
    """

    def __call__(self, place: str, tools: Sequence[str], folder: str = "") -> tuple[DeniedPath, ...]:
        """Return the currently denied paths."""
        ...
