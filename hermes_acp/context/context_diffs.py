"""Describe a change to a context file as a line diff for a reader who knows the earlier version.

A block is a file as shown in a prompt: its heading, a fence, its text, and the closing fence.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from hermes_acp.core.hunks import Hunk, apply_hunks, diff_hunks

AROUND_LINES: Final = 2
MUCH_SHORTER: Final = 3
"""How many times shorter than the block a diff must be to be used."""
PLACE: Final = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@")
UNKNOWN: Final = ""
"""A block whose displayed content is no longer known."""


def changed_lines(before: str, after: str) -> str | None:
    """Return a diff between two blocks of a file, or None if it is better to show the whole block."""
    old, new = before.split("\n"), after.split("\n")
    if old[:1] != new[:1] or old[-1] != new[-1] or len(old) < MUCH_SHORTER:
        return None
    hunks = diff_hunks("\n".join(old[2:-1]), "\n".join(new[2:-1]))
    body = [line for group in _groups(hunks) for line in _written(group, old[2:-1])]
    fence = "`" * (3 + max(map(len, re.findall("`+", "\n".join(body))), default=0))
    told = "\n".join((old[0], fence, *body, fence))
    return told if len(told) * MUCH_SHORTER <= len(after) else None


def with_changed_lines(before: str, told: str) -> str:
    """Apply a diff to a block, or return UNKNOWN if the diff does not apply."""
    heading, *old = before.split("\n")
    wanted = list(_read(told.split("\n")[2:-1]))
    text = old[1:-1]
    fits = all(
        tuple(text[hunk.old_start : hunk.old_start + len(hunk.old_lines)]) == hunk.old_lines
        for hunk in wanted
    )
    if not (fits and text and heading == told.partition("\n")[0]):
        return UNKNOWN
    after = apply_hunks("\n".join(text), wanted)
    return "\n".join((heading, old[0], after, old[-1]))


def _groups(hunks: Sequence[Hunk]) -> Iterator[Sequence[Hunk]]:
    """Yield groups of hunks whose context lines overlap or adjoin."""
    group: list[Hunk] = []
    for hunk in hunks:
        if group and hunk.old_start - _end(group[-1]) > 2 * AROUND_LINES:
            yield group
            group = []
        group.append(hunk)
    if group:
        yield group


def _written(group: Sequence[Hunk], old: Sequence[str]) -> Iterator[str]:
    """Format hunks as removed and added lines with their context lines."""
    begin = max(0, group[0].old_start - AROUND_LINES)
    end = min(len(old), _end(group[-1]) + AROUND_LINES)
    new_begin = group[0].new_start - (group[0].old_start - begin)
    grown = sum(len(hunk.new_lines) - len(hunk.old_lines) for hunk in group)
    yield f"@@ -{begin + 1},{end - begin} +{new_begin + 1},{end - begin + grown} @@"
    at = begin
    for hunk in group:
        yield from (f" {line}" for line in old[at : hunk.old_start])
        yield from (f"-{line}" for line in hunk.old_lines)
        yield from (f"+{line}" for line in hunk.new_lines)
        at = _end(hunk)
    yield from (f" {line}" for line in old[at:end])


def _read(lines: Sequence[str]) -> Iterator[Hunk]:
    """Parse a diff; each group becomes one hunk, with its context lines on both sides."""
    starts = [at for at, line in enumerate(lines) if PLACE.fullmatch(line)]
    for at, after in pairwise((*starts, len(lines))):
        old_start, _, new_start, _ = map(int, PLACE.findall(lines[at])[0])
        body = lines[at + 1 : after]
        gone = tuple(line[1:] for line in body if line[:1] in ("-", " "))
        come = tuple(line[1:] for line in body if line[:1] in ("+", " "))
        yield Hunk(old_start - 1, gone, new_start - 1, come)


def _end(hunk: Hunk) -> int:
    return hunk.old_start + len(hunk.old_lines)
