"""Cut a text between lines, or at least between words.

Half a secret could not be recognised, so a word is cut only if it is very long.
"""

import re
from typing import Final

MAX_WORD_CHARACTERS: Final = 512
"""In characters; no key is longer than this without a break."""
_WORD: Final = re.compile(r"[^\s\"'`<>(){}\[\],;]+")
_WORD_AT_END: Final = re.compile(rf"{_WORD.pattern}\Z")


def trim_to_break(piece: bytes) -> bytes:
    """Drop the last line, or only its last word if the line is too long to drop."""
    least = len(piece) - len(piece) // 8
    end = piece.rfind(b"\n", least)
    end = piece.rfind(b" ", least) if end < 0 else end
    return piece if end < 0 else piece[: end + 1]


def trim_from_break(piece: bytes) -> bytes:
    """Drop the first line, or only its first word if the line is too long to drop."""
    most = len(piece) // 8
    start = piece.find(b"\n", 0, most)
    start = piece.find(b" ", 0, most) if start < 0 else start
    return piece[start + 1 :]


def slice_at_breaks(text: str, first: int, last: int) -> tuple[int, int]:
    """Return the bounds of the part of a text from `first` to `last`, without words that are only partly inside."""
    end = _word_around(text, last)[0]
    begin = _word_around(text, first)[1]
    return min(begin, last), max(end, min(begin, last))


def _word_around(text: str, at: int) -> tuple[int, int]:
    """Return the start and end of the word that a cut would split.

    Returns the cut position twice if there is no word there, or if the word is too long.
    """
    if not 0 < at < len(text):
        return at, at
    before = _WORD_AT_END.search(text, max(0, at - MAX_WORD_CHARACTERS), at)
    behind = _WORD.match(text, at, at + MAX_WORD_CHARACTERS)
    if before is None or behind is None or behind.end() - before.start() >= MAX_WORD_CHARACTERS:
        return at, at
    return before.start(), behind.end()
