"""Apply the hunks of a patch to a file's text.

A hunk must match in exactly one place; several matches are an error.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.tools.editing.patch_parsing import Hunk
from hermes_acp.tools.editing.text_similarity import normalise_shape

MAX_TEXT_CHARS: Final = 8_000_000
MAX_MATCHES: Final = 1000
SHOWN_COLUMNS: Final = 120


class _HunkMatch(Struct, frozen=True):
    """A range of old lines to replace, and the lines that replace them."""

    start: int
    end: int
    lines: list[str]


def _verbatim(line: str) -> str:
    return line


def _normalised(line: str) -> str:
    return normalise_shape(line).strip()


_COMPARISONS: Final[tuple[Callable[[str], str], ...]] = (_verbatim, str.rstrip, _normalised)


def apply_hunks(text: str, hunks: Sequence[Hunk], newline: str) -> str:
    """Return the text with all hunks applied; untouched lines keep their line endings, new lines get `newline`.

    Raises WorkspaceError for a hunk that matches nowhere or in several places.
    """
    if len(text) > MAX_TEXT_CHARS:
        raise WorkspaceError(
            f"The file has {len(text):,} characters; patches work on files of at most {MAX_TEXT_CHARS:,}.",
            hint="Use edit_file instead.",
        )
    raw = text.split("\n")
    bare = [line.removesuffix("\r") for line in raw]
    carriage = newline.removesuffix("\n")
    pieces: list[str] = []
    done = 0
    for number, hunk in enumerate(hunks, 1):
        spot = _match_of(bare, raw, hunk, done, number, carriage)
        pieces += raw[done : spot.start]
        pieces += spot.lines
        done = spot.end
    pieces += raw[done:]
    was_ended = raw[-1] == ""
    if hunks and hunks[-1].ends_in_newline is True and not was_ended:
        pieces.append("")
    elif hunks and hunks[-1].ends_in_newline is False and was_ended:
        pieces.pop()
    return "\n".join(pieces)


def new_text(hunks: Sequence[Hunk]) -> str:
    """Return the text of a new file."""
    lines = [line for hunk in hunks for mark, line in hunk.lines if mark == "+"]
    is_ended = not hunks or hunks[-1].ends_in_newline is not False
    return "\n".join(lines) + ("\n" if lines and is_ended else "")


def _match_of(
    bare: Sequence[str], raw: Sequence[str], hunk: Hunk, begin: int, number: int, carriage: str
) -> _HunkMatch:
    begin = _behind_headings(bare, hunk, begin, number)
    wanted = [line for mark, line in hunk.lines if mark != "+"]
    if not wanted:
        start = _place_of_insertion(bare, hunk, begin)
        return _HunkMatch(start, start, [line + carriage for _, line in hunk.lines])
    start = _find(bare, wanted, hunk, begin, number)
    lines: list[str] = []
    at = start
    for mark, line in hunk.lines:
        if mark == "+":
            lines.append(line + carriage)
        else:
            if mark == " ":
                lines.append(raw[at])
            at += 1
    return _HunkMatch(start, at, lines)


def _place_of_insertion(bare: Sequence[str], hunk: Hunk, begin: int) -> int:
    """Return the line before which to insert a hunk without context: after its heading, or else at the end."""
    if hunk.near is not None:
        return max(begin, min(hunk.near, len(bare) - 1))
    if hunk.headings:
        return begin
    return len(bare) - 1 if bare[-1] == "" else len(bare)


def _behind_headings(bare: Sequence[str], hunk: Hunk, begin: int, number: int) -> int:
    for heading in hunk.headings:
        place = next(
            (
                at
                for manner in _COMPARISONS
                for at in range(begin, len(bare))
                if manner(bare[at]) == manner(heading)
            ),
            None,
        )
        if place is None:
            raise WorkspaceError(
                f"Hunk {number}: there is no line {heading[:SHOWN_COLUMNS]!r} below the hunks before it.",
                hint="Copy the heading exactly from the file.",
            )
        begin = place + 1
    return begin


def _find(bare: Sequence[str], wanted: Sequence[str], hunk: Hunk, begin: int, number: int) -> int:
    for manner in _COMPARISONS:
        places = list(_places(bare, wanted, begin, manner))
        if hunk.is_at_end:
            last = len(bare) - len(wanted) - (bare[-1] == "" and wanted[-1] != "")
            places = [last] if last in places else places
        if len(places) > 1 and hunk.near is not None:
            places = _nearest(places, hunk.near - 1)
        if len(places) > 1:
            lines = ", ".join(str(place + 1) for place in places[:10])
            raise WorkspaceError(
                f"Hunk {number} matches in more than one place, at lines {lines}.",
                hint="Add more of the surrounding lines, or a @@ heading above it.",
            )
        if places:
            return places[0]
    first = next((line for line in wanted if line.strip()), "")
    raise WorkspaceError(
        f"Hunk {number} matches nowhere: its lines from {first[:SHOWN_COLUMNS]!r} on are not in the file like that.",
        hint="Read the file again and copy the unchanged and removed lines exactly.",
    )


def _places(
    bare: Sequence[str], wanted: Sequence[str], begin: int, manner: Callable[[str], str]
) -> Iterator[int]:
    """Return the positions at which all wanted lines match, at most MAX_MATCHES, in linear time."""
    text = "\n".join(("", *map(manner, bare[begin:]), ""))
    sought = "\n".join(("", *map(manner, wanted), ""))
    at, line, found = text.find(sought), begin, 0
    before = 0
    while at >= 0 and found < MAX_MATCHES:
        line += text.count("\n", before, at)
        yield line
        found += 1
        before, at = at, text.find(sought, at + 1)


def _nearest(places: Sequence[int], line: int) -> list[int]:
    least = min(abs(place - line) for place in places)
    return [place for place in places if abs(place - line) == least]
