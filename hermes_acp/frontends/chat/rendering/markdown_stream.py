"""Split Markdown that is still being streamed into finished blocks.

A block is finished once the next one has started. Until then it is in `tail`.
"""

import re
from typing import Final

OPENING: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
HEADING: Final = re.compile(r" {0,3}#{1,6}(\s|$)")
INDENTED: Final = re.compile(r"( {2,}|\t)\S")


class MarkdownStream:
    """Collects the text of one message."""

    def __init__(self) -> None:
        self._block: list[str] = []
        self._rest = ""
        self._fence = ""
        self._had_blank = False

    @property
    def tail(self) -> str:
        """The text after the last finished block."""
        return "\n".join((*self._block, self._rest)) if self._block or self._rest else ""

    def feed(self, text: str) -> list[str]:
        """Add text; return the blocks that it has finished."""
        *lines, self._rest = (self._rest + text).split("\n")
        done = [block for line in lines for block in self._take(line)]
        if self._had_blank and not self._fence and self._rest[:1].strip():
            done += self._cut()
        return done

    def finish(self) -> list[str]:
        """Return the remaining text as blocks, because the message is complete."""
        found = self._take(self._rest) if self._rest.strip() else []
        self._rest, self._fence = "", ""
        return [*found, *self._cut()]

    def _take(self, line: str) -> list[str]:
        if self._fence:
            self._block.append(line)
            if self._closes(line):
                self._fence = ""
                return self._cut()
            return []
        opening = OPENING.match(line)
        if opening:
            done = self._cut()
            self._block.append(line)
            self._fence = opening[1]
            return done
        if not line.strip():
            self._had_blank = bool(self._block)
            if self._block:
                self._block.append(line)
            return []
        return self._take_words(line)

    def _take_words(self, line: str) -> list[str]:
        done = self._cut() if self._had_blank and not INDENTED.match(line) else []
        if HEADING.match(line):
            done += self._cut()
            return [*done, line]
        self._had_blank = False
        self._block.append(line)
        return done

    def _closes(self, line: str) -> bool:
        marks = line.strip()
        return len(marks) >= len(self._fence) and not marks.strip(self._fence[0])

    def _cut(self) -> list[str]:
        block = "\n".join(self._block).rstrip()
        self._block.clear()
        self._had_blank = False
        return [block] if block else []


class LineStream:
    """Does the same for plain terminals: returns complete lines, unchanged."""

    def __init__(self) -> None:
        self.tail = ""

    def feed(self, text: str) -> list[str]:
        """Add text; return the finished lines as one block."""
        whole, end, rest = (self.tail + text).rpartition("\n")
        self.tail = rest
        return [whole] if end else []

    def finish(self) -> list[str]:
        """Return the remaining text."""
        left, self.tail = self.tail, ""
        return [left] if left.strip() else []
