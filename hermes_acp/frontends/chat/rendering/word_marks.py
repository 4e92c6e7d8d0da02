"""Find the words that differ between two versions of a line."""

import re
from typing import Final

MAX_LENGTH: Final = 500
MIN_RATIO: Final = 0.5
"""The minimum similarity of two lines for marking single words."""
WORDS: Final = re.compile(r"\w+|\s+|[^\w\s]")

Spans = list[tuple[int, int]]


def changed_words(old: str, new: str) -> tuple[Spans, Spans]:
    """Return the spans of changed characters in both lines; none if the lines have little in common."""
    if max(len(old), len(new)) > MAX_LENGTH:
        return [], []
    from difflib import SequenceMatcher

    before, after = WORDS.findall(old), WORDS.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < MIN_RATIO:
        return [], []
    gone: Spans = []
    come: Spans = []
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind != "equal":
            gone += _span(before, i, i_end)
            come += _span(after, j, j_end)
    return gone, come


def _span(words: list[str], start: int, end: int) -> Spans:
    first = sum(map(len, words[:start]))
    length = sum(map(len, words[start:end]))
    return [(first, first + length)] if length else []
