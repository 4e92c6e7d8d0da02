"""Compare two texts line by line, with the protocol's line endings."""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from msgspec import Struct

MAX_COMPARED_LINES: Final = 4_000
"""In longer texts, everything between the first and the last difference is one hunk, because comparing is quadratic."""
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+")


class LineHunk(Struct, frozen=True):
    """A replacement of the old lines from `first` up to, but excluding, `last`; line numbers start at 0."""

    first: int
    last: int
    old: str
    new: str

    def covers(self, line: int) -> bool:
        """Return whether a line is in the hunk or, for an insertion, directly after it."""
        return self.first <= line < max(self.last, self.first + 1)

    def shown(self) -> str:
        """Format the hunk as lines of a diff."""
        old = (f"-{line}" for line in self.old.splitlines())
        return "\n".join((*old, *(f"+{line}" for line in self.new.splitlines())))


def hunks_of(before: str, after: str) -> tuple[LineHunk, ...]:
    """Return the hunks that differ, in order; no two are adjacent."""
    old, new = _LINE.findall(before), _LINE.findall(after)
    head = _common(old, new)
    tail = min(_common(old[::-1], new[::-1]), len(old) - head, len(new) - head)
    old_core, new_core = old[head : len(old) - tail], new[head : len(new) - tail]
    if not old_core and not new_core:
        return ()
    if len(old_core) + len(new_core) > MAX_COMPARED_LINES:
        return (LineHunk(head, head + len(old_core), "".join(old_core), "".join(new_core)),)
    codes = SequenceMatcher(None, old_core, new_core, autojunk=False).get_opcodes()
    return tuple(
        LineHunk(head + first, head + last, "".join(old_core[first:last]), "".join(new_core[start:stop]))
        for tag, first, last, start, stop in codes
        if tag != "equal"
    )


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Count the equal lines at the start."""
    for number, (left, right) in enumerate(zip(one, other, strict=False)):
        if left != right:
            return number
    return min(len(one), len(other))
