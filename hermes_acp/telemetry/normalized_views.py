"""Normalise texts for scanning: remove control sequences, hidden characters and line breaks within tokens.

Removal depends only on nearby characters, so text that arrives in pieces gives the same result as the whole.
"""

import re
from bisect import bisect_right
from typing import Final

from msgspec import Struct

from hermes_acp.lazy_pattern import LazyPattern

_UNSEEN: Final = LazyPattern(
    r"\x1b\[[0-9;?]{0,32}(?:[ -/]{0,4}[@-~]|\Z)|\x1b\Z|[\x00\xad\u200b-\u200f\u2060-\u2064\ufeff]"
)
_UNSEEN_SIGN: Final = LazyPattern("[\x1b\x00\xad\u200b-\u200f\u2060-\u2064\ufeff]")
_SEEN: Final = b"\t\n\r" + bytes(range(0x20, 0x7F))
_IN_TOKEN: Final = "[A-Za-z0-9_+/.~%-]"
# The fastest alternatives come first, then those that most lines, such as indented ones, do not have.
_BREAK: Final = LazyPattern(
    rf"\n(?=[A-Za-z0-9_+/=.~%-]|\Z)(?:(?<={_IN_TOKEN}{{12}}\n)|(?<={_IN_TOKEN}{{12}}\r\n)|(?<={_IN_TOKEN}{{12}}\\\n)"
    rf"|(?<={_IN_TOKEN}{{12}}\\\r\n))",
    re.ASCII,
)
_BEGUN_BREAK: Final = LazyPattern(rf"(?<={_IN_TOKEN}{{12}})(?:\\?\r|\\)\Z", re.ASCII)
_HASH: Final = LazyPattern(r"(?:[0-9a-f]{64}|[0-9a-f]{40}|[0-9a-f]{32})(?![\w+/-])", re.ASCII)
MIN_LINE_CHARACTERS: Final = 32
"""The line length below which a token can only continue after a backslash."""


class NormalizedView(Struct, frozen=True):
    """Text with parts removed; `shifts` holds the total removed before the characters at `since`."""

    text: str
    since: list[int]
    shifts: list[int]

    def place(self, number: int) -> int:
        """Return a character's position in the original text."""
        at = bisect_right(self.since, number)
        return number + (self.shifts[at - 1] if at else 0)

    def before(self, place: int) -> int:
        """Return the number of remaining characters before a position."""
        low, high = 0, len(self.text)
        while low < high:
            middle = (low + high) // 2
            if self.place(middle) < place:
                low = middle + 1
            else:
                high = middle
        return low


def without_unseen(text: str) -> NormalizedView | None:
    """Return the text without control sequences and hidden characters, or None if it has none."""
    if text.isascii() and "\x1b" not in text and "\0" not in text:
        return None
    # Most non-ASCII texts contain letters and nothing hidden; checking a few characters is faster than checking all.
    odd = text.encode("utf-8", "surrogatepass").translate(None, _SEEN).decode("utf-8", "surrogatepass")
    if not _UNSEEN_SIGN.compiled.search(odd):
        return None
    spans = [match.span() for match in _UNSEEN.compiled.finditer(text)]
    return _without(text, spans) if spans else None


def without_breaks(text: str, *, is_final: bool) -> NormalizedView | None:
    """Return the text without line breaks that may be inside a token, or None if there are none."""
    spans: list[tuple[int, int]] = []
    for match in _BREAK.compiled.finditer(text):
        end = match.end()
        start = match.start() - (text[match.start() - 1] == "\r")
        is_continued = text[start - 1] == "\\"
        start -= is_continued
        is_long = start - text.rfind("\n", 0, start) > MIN_LINE_CHARACTERS
        if (is_long or is_continued) and not _is_list(text, start, end):
            spans.append((start, end))
    if begun := _BEGUN_BREAK.compiled.search(text, max(0, len(text) - 2)):
        spans.append(begun.span())
    if is_final and spans and spans[-1][1] == len(text):
        spans.pop()
    return _without(text, spans) if spans else None


def _is_list(text: str, start: int, end: int) -> bool:
    """Return whether there are complete hashes on both sides, because tokens are not broken in a list of hashes."""
    behind = _HASH.compiled.match(text, end)
    if behind is None:
        return False
    size = behind.end() - end
    first = start - size
    return bool(first >= 0 and _HASH.compiled.match(text, first)) and not (
        first and text[first - 1].isalnum()
    )


def _without(text: str, spans: list[tuple[int, int]]) -> NormalizedView:
    pieces: list[str] = []
    since: list[int] = []
    shifts: list[int] = []
    done = size = left_out = 0
    for start, end in spans:
        pieces.append(text[done:start])
        size += start - done
        left_out += end - start
        since.append(size)
        shifts.append(left_out)
        done = end
    pieces.append(text[done:])
    return NormalizedView("".join(pieces), since, shifts)
