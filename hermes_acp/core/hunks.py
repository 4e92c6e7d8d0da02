"""Hunks: the line-based differences between two texts, and how to apply and revert them one by one.

Lines are split at line feeds only, so splitting and joining is lossless.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

MAX_COMPARED_LINES: Final = 3_000
"""The maximum number of lines to compare; a larger change is one hunk, because nobody reviews it piece by piece."""
SHOWN_LINES: Final = 12


class Hunk(Struct, frozen=True):
    """A change: `old_lines` at `old_start` (counted from 0) become `new_lines` at `new_start` in the new text."""

    old_start: int
    old_lines: tuple[str, ...]
    new_start: int
    new_lines: tuple[str, ...]


class _Block(Struct, frozen=True):
    """A run of equal lines, with its start in both texts."""

    old: int
    new: int
    count: int


def diff_hunks(before: str, after: str) -> tuple[Hunk, ...]:
    """Return the hunks that turn one text into the other, in order."""
    old, new = before.split("\n"), after.split("\n")
    hunks: list[Hunk] = []
    old_at = new_at = 0
    for block in (*_same(old, new), _Block(len(old), len(new), 0)):
        if block.old > old_at or block.new > new_at:
            gone, come = tuple(old[old_at : block.old]), tuple(new[new_at : block.new])
            hunks.append(Hunk(old_at, gone, new_at, come))
        old_at, new_at = block.old + block.count, block.new + block.count
    return tuple(hunks)


def apply_hunks(before: str, hunks: Iterable[Hunk]) -> str:
    """Return the old text with some of its hunks applied."""
    lines = before.split("\n")
    for hunk in sorted(hunks, key=lambda each: each.old_start, reverse=True):
        lines[hunk.old_start : hunk.old_start + len(hunk.old_lines)] = hunk.new_lines
    return "\n".join(lines)


def revert_hunks(after: str, hunks: Iterable[Hunk], now: str | None = None) -> tuple[str, tuple[Hunk, ...]]:
    """Return the new text with some hunks reverted, and the hunks that could not be reverted.

    If the text has changed to `now`, a hunk is reverted only if its new lines are still present unchanged.
    """
    new, lines = after.split("\n"), (after if now is None else now).split("\n")
    blocks = _same(new, lines) if now is not None else (_Block(0, 0, len(new)),)
    lost: list[Hunk] = []
    for hunk in sorted(hunks, key=lambda each: each.new_start, reverse=True):
        end = hunk.new_start + len(hunk.new_lines)
        block = next((b for b in blocks if b.old <= hunk.new_start and end <= b.old + b.count), None)
        if block is None:
            lost.append(hunk)
            continue
        moved = block.new - block.old
        lines[hunk.new_start + moved : end + moved] = hunk.old_lines
    return "\n".join(lines), tuple(reversed(lost))


def describe_hunk(hunk: Hunk) -> str:
    """Describe a hunk as text for a model."""
    signed = [*(f"-{line}" for line in hunk.old_lines), *(f"+{line}" for line in hunk.new_lines)]
    if len(signed) > SHOWN_LINES:
        signed[SHOWN_LINES:] = [f"… {len(signed) - SHOWN_LINES} more lines"]
    return "\n".join((f"at line {hunk.old_start + 1}:", *signed))


def _same(old: Sequence[str], new: Sequence[str]) -> tuple[_Block, ...]:
    """Return the equal blocks; the common prefix and suffix are not compared again."""
    most = min(len(old), len(new))
    head = next((i for i in range(most) if old[i] != new[i]), most)
    tail = next((i for i in range(most - head) if old[-1 - i] != new[-1 - i]), most - head)
    left, right = old[head : len(old) - tail], new[head : len(new) - tail]
    middle: list[_Block] = []
    if left and right and len(left) + len(right) <= MAX_COMPARED_LINES:
        from difflib import SequenceMatcher

        matcher = SequenceMatcher(None, left, right, autojunk=False)
        middle = [
            _Block(head + match.a, head + match.b, match.size) for match in matcher.get_matching_blocks()
        ]
    blocks = (_Block(0, 0, head), *middle, _Block(len(old) - tail, len(new) - tail, tail))
    return _joined(block for block in blocks if block.count)


def _joined(blocks: Iterable[_Block]) -> tuple[_Block, ...]:
    """Merge adjacent blocks, so that no empty change remains between them."""
    joined: list[_Block] = []
    for block in blocks:
        last = joined[-1] if joined else None
        if last and (last.old + last.count, last.new + last.count) == (block.old, block.new):
            joined[-1] = _Block(last.old, last.new, last.count + block.count)
        else:
            joined.append(block)
    return tuple(joined)
