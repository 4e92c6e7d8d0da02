"""Show the lines of a text with their numbers, within limits."""

from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import Files
from hermes_acp.core.word_breaks import slice_at_breaks
from hermes_acp.tools.text_files import TextFile, kind_of_binary

MAX_LINE_CHARS: Final = 2000
MAX_OUTPUT_CHARS: Final = 200_000
LINE_NUMBER_MARGIN: Final = 16
"""The most characters a line number takes."""
PIECE_BYTES: Final = 4 * 1024 * 1024
_LINE_BYTES: Final = 4 * MAX_LINE_CHARS


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
    """Return numbered lines and a note on what was left out. Raise WorkspaceError for a start beyond the end."""
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


async def show_large_file(files: Files, path: str, shown: str, first: int, limit: int) -> str:
    """Return numbered lines of a file too large to be read whole; it is read in chunks up to the last line needed.

    Raise WorkspaceError for a start beyond the end, and for content that is neither UTF-8 nor code-page text.
    """
    view, number, start, size_bytes = LineView(first, []), 1, 0, 0
    begun, cut = bytearray(), 0
    is_at_end = False
    while not is_at_end:
        piece = await files.read_range(path, start, PIECE_BYTES)
        if piece is None:
            raise WorkspaceError(f"There is no file {shown} any more.", hint="Check what happened to it.")
        content, size_bytes = piece.content, piece.size_bytes
        if not start and b"\0" in content[:8192]:
            raise WorkspaceError(
                f"{shown} is {kind_of_binary(content)} of {size_bytes:,} bytes, not text.",
                hint="Inspect it with a command for this kind of file.",
            )
        start += len(content)
        is_at_end = not content or start >= size_bytes
        skipped = content.count(b"\n") if number < first else 0
        if number + skipped < first:
            number += skipped
            continue
        at = _after_lines(content, first - number)
        number = max(number, first)
        *whole, rest = content[at:].split(b"\n", limit - len(view.pieces) + 1)
        for line in whole:
            begun += line[: _LINE_BYTES - len(begun)]
            cut += max(0, len(line) - _LINE_BYTES)
            if not view.add(_decoded(begun), cut) or len(view.pieces) >= limit:
                return _finished(view, size_bytes, is_partial=True)
            begun.clear()
            cut = 0
        if len(view.pieces) < limit:
            kept = rest[: max(0, _LINE_BYTES - len(begun))]
            begun += kept
            cut += len(rest) - len(kept)
    if begun:
        view.add(_decoded(begun), cut)
    if not view.pieces:
        raise WorkspaceError(f"{shown} has only {number} lines.", hint="Use a smaller offset.")
    return _finished(view, size_bytes, is_partial=False)


def _after_lines(content: bytes, count: int) -> int:
    """Return the position after a number of line endings."""
    at = 0
    for _ in range(max(0, count)):
        at = content.index(b"\n", at) + 1
    return at


def _decoded(line: bytearray) -> str:
    return line.decode("utf-8", "replace").removesuffix("\r")


def _finished(view: LineView, size_bytes: int, *, is_partial: bool) -> str:
    following = view.first + len(view.pieces)
    if is_partial:
        view.pieces.append(f"[a file of {size_bytes:,} bytes; there may be more, from offset={following} on]")
    return "\n".join(view.pieces)
