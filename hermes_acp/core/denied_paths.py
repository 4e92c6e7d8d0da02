"""Paths that a rule denies to everything that runs without a question."""

import re
from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class DeniedPath(Struct, frozen=True):
    """Denied paths: `pattern` matches whole paths, `anchor` is the folder that all of them are below.

    Both are in lower case, so that case does not get around a rule. A rule that `hides` denies reading too. `named`
    is the path itself where the rule has no pattern.
    """

    pattern: str
    anchor: str
    hides: bool = True
    named: str = ""

    def matches(self, path: str) -> bool:
        """Return whether the rule names this very path."""
        return re.fullmatch(self.pattern, path.casefold(), re.DOTALL) is not None

    def covers(self, path: str) -> bool:
        """Return whether a path (absolute, resolved) is denied, itself or by a folder above it."""
        parts = path.split("/")
        return any(self.matches("/".join(parts[:end]) or "/") for end in range(1, len(parts) + 1))

    def may_match_below(self, folder: str) -> bool:
        """Return whether the rule could match something in a folder, however deep."""
        near, far = folder.casefold().rstrip("/") + "/", self.anchor.rstrip("/") + "/"
        return near.startswith(far) or far.startswith(near)

    def is_above(self, folder: str) -> bool:
        """Return whether a folder's own name is part of what the rule names."""
        return self.anchor.startswith(folder.casefold().rstrip("/") + "/")


class DeniedPathLookup(Protocol):
    """Gives what rules keep some tools out of, for sessions in a place, whose files may be in a `folder` elsewhere."""

    def __call__(self, place: str, tools: Sequence[str], folder: str = "") -> tuple[DeniedPath, ...]:
        """Look it up, as it is at that moment."""
        ...
