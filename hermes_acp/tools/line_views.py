"""Show the lines of a string with their numbers, within limits."""

from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.word_breaks import slice_at_breaks
from hermes_acp.tools.text_files import TextFile

MAX_LINE_CHARS: Final = 2000
MAX_OUTPUT_CHARS: Final = 200_000
LINE_NUMBER_MARGIN: Final = 16
"""The maximum number of characters that a line number takes."""
MAX_HELD_CHARS: Final = 2 * MAX_LINE_CHARS
"""The maximum length held of a long line; truncating near MAX_LINE_CHARS needs the whole word there."""
MAX_LINES: Final = MAX_OUTPUT_CHARS
"""A number of lines greater than can be shown."""


class LineView(Struct):
    """The numbered lines collected so far."""

    first: int
    pieces: list[str]
    size: int = 0

    def add(self, line: str, cut: int = 0) -> bool:
        """Add a line from which `cut` characters are already missing; return whether there is room for more."""
        shown = line[: slice_at_breaks(line, 0, MAX_LINE_CHARS)[1]]
        missing = cut + len(line) - len(shown)
        note = f" [… {missing:,} more characters]" if missing else ""
        number = self.first + len(self.pieces)
        self.pieces.append(f"{number:6}\t{shown}{note}")
        self.size += len(self.pieces[-1])
        return self.size <= MAX_OUTPUT_CHARS


def show_lines(file: TextFile, shown: str, first: int, limit: int) -> str:
    """Return numbered lines and a note on what was left out. Raises WorkspaceError for a start beyond the end."""
    text = file.text
    if not text:
        return f"({shown} is empty)"
    count = text.count("\n") + (not text.endswith("\n"))
    if first > count:
        raise WorkspaceError(f"{shown} has only {count} lines.", hint=f"Use an offset from 1 to {count}.")
    view = LineView(first, [])
    lines = _lines_from(text, first, limit)
    if (
        sum(map(len, lines)) + LINE_NUMBER_MARGIN * len(lines) <= MAX_OUTPUT_CHARS
        and max(map(len, lines)) <= MAX_LINE_CHARS
    ):
        view.pieces = [f"{number:6}\t{line}" for number, line in enumerate(lines, first)]
    else:
        for line in lines:
            if not view.add(line):
                break
    following = first + len(view.pieces)
    if file.encoding != "utf-8" or file.mark:
        mark = " with a byte-order mark" if file.mark else ""
        view.pieces.append(f"[encoded in {file.encoding}{mark}]")
    if (left := count - following + 1) > 0:
        view.pieces.append(f"[{left:,} more lines; continue with offset={following}]")
    return "\n".join(view.pieces)


def _lines_from(text: str, first: int, limit: int) -> list[str]:
    """Return up to `limit` lines, starting at line `first`, which must exist."""
    *lines, rest = text.split("\n", first - 1 + limit)
    if rest and len(lines) < first - 1 + limit:
        lines.append(rest)
    wanted = lines[first - 1 :]
    return [line.removesuffix("\r") for line in wanted] if "\r" in text else wanted


class LineCollector:
    """Numbered lines collected from text that arrives in pieces; of a very long line, only the start is held."""

    def __init__(self, first: int, limit: int) -> None:
        self.view = LineView(first, [])
        self.whole_lines: list[str] = []
        """The lines to show, up to the first one that is too long to be held."""
        self.is_full = False
        """Whether further lines are only counted, not collected."""
        self._first = first
        self._limit = limit
        self._breaks = 0
        self._begun = ""
        self._missing = 0
        self._line_end = ""
        self._ends_open = False

    @property
    def count(self) -> int:
        """The number of lines so far."""
        return self._breaks + self._ends_open

    def feed(self, text: str) -> None:
        """Append the next chunk of text."""
        if not text:
            return
        breaks = text.count("\n")
        skipped = max(0, self._first - 1 - self._breaks)
        if not self.is_full and skipped <= breaks:
            self._collect(text[position_after(text, skipped) :])
        self._breaks += breaks
        self._ends_open = not text.endswith("\n")

    def skip(self, content: bytes) -> bool:
        """Skip a piece of UTF-8 if it ends before the first line to show; return whether it was skipped."""
        breaks = content.count(b"\n")
        if self._breaks + breaks >= self._first - 1:
            return False
        self._breaks += breaks
        self._ends_open = not content.endswith(b"\n")
        return True

    def finish(self) -> None:
        """Append the last line, if no line break ends it."""
        if not self.is_full and (self._begun or self._missing):
            self._close()

    def _collect(self, text: str) -> None:
        room = min(self._limit - len(self.view.pieces), MAX_LINES - len(self.view.pieces))
        *whole, rest = text.split("\n", room)
        for line in whole:
            self._extend(line)
            self._close()
            if self.is_full:
                return
        self._extend(rest)

    def _extend(self, part: str) -> None:
        kept = part[: MAX_HELD_CHARS - len(self._begun)]
        self._begun += kept
        self._missing += len(part) - len(kept)
        self._line_end = part[-1:] or self._line_end

    def _close(self) -> None:
        line, missing = self._begun, self._missing
        if self._line_end == "\r":
            line, missing = (line, missing - 1) if missing else (line[:-1], 0)
        is_contiguous = len(self.whole_lines) == len(self.view.pieces)
        if not missing and is_contiguous:
            self.whole_lines.append(line)
        has_room = self.view.add(line, missing)
        self._begun, self._missing, self._line_end = "", 0, ""
        self.is_full = not has_room or len(self.view.pieces) >= self._limit


def position_after(text: str, breaks: int) -> int:
    """Return the position after the given number of line breaks, which the text must contain."""
    low, high = 0, len(text)
    if not breaks:
        return 0
    while high - low > 1:
        middle = (low + high) // 2
        found = text.count("\n", low, middle)
        if found < breaks:
            breaks -= found
            low = middle
        else:
            high = middle
    return high
