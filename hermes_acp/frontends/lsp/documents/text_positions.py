"""Convert between positions of the protocol and indexes of Python strings.

Source: LSP 3.18, "Text Documents" and "Position": a line ends in LF, CRLF or CR only, columns count the units of the
agreed encoding, and a column beyond the line's end means its end.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import Final

_LINE_END = re.compile(r"\r\n|\n|\r")


def _utf8(character: str) -> int:
    return len(character.encode("utf-8", "surrogatepass"))


def _utf16(character: str) -> int:
    return 2 if ord(character) > 0xFFFF else 1


def _utf32(character: str) -> int:
    return 1


WIDTHS: Final[Mapping[str, Callable[[str], int]]] = MappingProxyType(
    {"utf-8": _utf8, "utf-16": _utf16, "utf-32": _utf32}
)


class Positions:
    """Maps positions in a text, whose columns count units of one encoding."""

    def __init__(self, text: str, encoding: str = "utf-16", starts: list[int] | None = None) -> None:
        """Index a text; `starts` are the start indexes of its lines, if they are known."""
        self._text = text
        self._encoding = encoding
        self._width = WIDTHS.get(encoding, _utf16)
        self._starts = starts or _line_starts(text)

    def changed(self, start: int, end: int, text: str) -> "Positions":
        """Return the index of the text after a replacement.

        Only the surrounding lines are scanned, because a line ending may appear or disappear at the border.
        """
        first = max(0, bisect_right(self._starts, start) - 2)
        behind = bisect_right(self._starts, max(start, end)) + 1
        before = self._starts[first]
        after = self._starts[behind] if behind < len(self._starts) else len(self._text)
        lines = self._text[before:start] + text + self._text[max(start, end) : after]
        whole = self._text[:before] + lines + self._text[after:]
        moved = len(whole) - len(self._text)
        found = [before, *(before + each.end() for each in _LINE_END.finditer(lines))]
        if behind < len(self._starts):
            found.pop()  # the window ends where the next line starts
        rest = [each + moved for each in self._starts[behind:]]
        return Positions(whole, self._encoding, [*self._starts[:first], *found, *rest])

    @property
    def text(self) -> str:
        """The complete text."""
        return self._text

    def _stop(self, line: int) -> int:
        """Return the index of the end of a line's text, before its line ending."""
        if line + 1 >= len(self._starts):
            return len(self._text)
        next_start = self._starts[line + 1]
        return next_start - (2 if self._text[next_start - 2 : next_start] == "\r\n" else 1)

    def offset(self, line: int, column: int) -> int:
        """Return the string index of a position; beyond the text, that of its end."""
        if line >= len(self._starts):
            return len(self._text)
        start, stop = self._starts[line], self._stop(line)
        if self._text[start : min(stop, start + column)].isascii():
            return min(start + column, stop)
        units = 0
        for index in range(start, stop):
            if units >= column:
                return index
            units += self._width(self._text[index])
        return stop

    def place(self, offset: int) -> tuple[int, int]:
        """Return the line and the column of a string index."""
        line = bisect_right(self._starts, offset) - 1
        before = self._text[self._starts[line] : offset]
        return line, len(before) if before.isascii() else sum(map(self._width, before))

    def span(self, first: int, last: int) -> str:
        """Return the text of whole lines from `first` up to, but excluding, `last`."""
        if first >= len(self._starts):
            return ""
        return self._text[self._starts[first] : self.offset(last, 0)]


def _line_starts(text: str) -> list[int]:
    if "\r" in text:
        return [0, *(end.end() for end in _LINE_END.finditer(text))]
    return [0, *accumulate(len(line) + 1 for line in text.split("\n"))][:-1]
