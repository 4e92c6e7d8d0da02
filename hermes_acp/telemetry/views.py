"""Texts as they read past what nobody sees: control sequences, hidden characters, lines broken within a token.

Knows: what to pass over, where each character that stays stood. Does not know: what is looked for in such a text.
What is passed over is decided by the characters close by, so a text that comes in pieces reads the same as the whole.
"""

import re
from typing import Final

_UNSEEN: Final = re.compile(
    r"\x1b\[[0-9;?]{0,32}(?:[ -/]{0,4}[@-~]|\Z)|\x1b\Z|[\x00\xad\u200b-\u200f\u2060-\u2064\ufeff]"
)
_BREAK: Final = re.compile(
    r"(?<=[A-Za-z0-9_+/.~%-]{12})(?:\\?\r?\n(?=[A-Za-z0-9_+/=.~%-]|\Z)|\\?\r\Z|\\\Z)", re.ASCII
)
SHORTEST_LINE: Final = 32
"""Nobody breaks a line that is shorter, except with a backslash."""

View = tuple[str, list[int]]


def without_unseen(text: str) -> View | None:
    """Give the text without control sequences and hidden characters; None where there are none."""
    if text.isascii() and "\x1b" not in text and "\0" not in text:
        return None
    spans = [match.span() for match in _UNSEEN.finditer(text)]
    return _without(text, spans) if spans else None


def without_breaks(text: str, *, is_final: bool) -> View | None:
    """Give the text without the line ends that may be within a token; None where there are none."""
    spans: list[tuple[int, int]] = []
    for match in _BREAK.finditer(text):
        is_long = match.start() - text.rfind("\n", 0, match.start()) > SHORTEST_LINE
        is_open = match.end() == len(text)
        if (is_long or match[0].startswith("\\")) and not (is_open and is_final):
            spans.append(match.span())
    return _without(text, spans) if spans else None


def _without(text: str, spans: list[tuple[int, int]]) -> View:
    """Leave parts out; give where each of the other characters stood, too."""
    pieces: list[str] = []
    places: list[int] = []
    done = 0
    for start, end in spans:
        pieces.append(text[done:start])
        places.extend(range(done, start))
        done = end
    pieces.append(text[done:])
    places.extend(range(done, len(text)))
    return "".join(pieces), places
