"""Changes of files, drawn hunk by hunk.

Knows: what a hunk looks like with the lines around it. Does not know: who agrees to it.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from rich.text import Text

from hermes_acp.core.hunks import Hunk, hunks_between
from hermes_acp.faces.chat.lettering import harmless, harmless_line
from hermes_protocol import v1

AROUND: Final = 3
MOST_LINES: Final = 60
GONE: Final = "red"
COME: Final = "green"
FAINT: Final = "dim"


def old_text(diff: v1.Diff) -> str:
    """Give what was there before; nothing for a new file."""
    return diff.old_text if isinstance(diff.old_text, str) else ""


def hunks_of(diff: v1.Diff) -> tuple[Hunk, ...]:
    """Give a diff's hunks in their order."""
    return hunks_between(old_text(diff), diff.new_text)


def headline(diff: v1.Diff, cwd: str) -> Text:
    """Name a file and how many of its lines come and go."""
    hunks = hunks_of(diff)
    come, gone = sum(len(h.new_lines) for h in hunks), sum(len(h.old_lines) for h in hunks)
    name = Text(harmless_line(short_path(diff.path, cwd)), style="bold")
    if not isinstance(diff.old_text, str):
        name.append(" (new)", style=FAINT)
        gone = 0
    return name.append(f"  +{come}", style=COME).append(f" -{gone}", style=GONE)


def drawn(diff: v1.Diff, cwd: str, most: int = MOST_LINES) -> Text:
    """Draw a file's change; what goes beyond `most` lines is counted."""
    lines = list(_lines(diff))
    text = headline(diff, cwd)
    for line in lines[:most]:
        text.append("\n").append_text(line)
    if len(lines) > most:
        text.append(f"\n  … {len(lines) - most} more lines", style=FAINT)
    return text


def drawn_hunk(diff: v1.Diff, hunk: Hunk) -> Text:
    """Draw one hunk with the lines around it."""
    before = old_text(diff).split("\n")
    end = hunk.old_start + len(hunk.old_lines)
    lines = [
        *_context(before, max(0, hunk.old_start - AROUND), hunk.old_start),
        *_changed(hunk),
        *_context(before, end, min(len(before), end + AROUND)),
    ]
    return Text("\n").join(lines)


def short_path(path: str, cwd: str) -> str:
    """Name a file from the folder one is in."""
    top = cwd.rstrip("/") + "/"
    return path.removeprefix(top)


def _lines(diff: v1.Diff) -> Iterator[Text]:
    before, hunks = old_text(diff).split("\n"), hunks_of(diff)
    at = 0
    for number, hunk in enumerate(hunks):
        start = max(at, hunk.old_start - AROUND)
        if start > at and number:
            yield Text("  ⋮", style=FAINT)
        yield from _context(before, start, hunk.old_start)
        yield from _changed(hunk)
        at = hunk.old_start + len(hunk.old_lines)
        following = hunks[number + 1].old_start if number + 1 < len(hunks) else len(before)
        end = min(at + AROUND, following)
        yield from _context(before, at, end)
        at = end


def _context(lines: Sequence[str], start: int, end: int) -> list[Text]:
    last = len(lines) - (not lines[-1])  # what ends in a line end has no line behind it
    return [_line(number + 1, " ", lines[number], FAINT) for number in range(start, min(end, last))]


def _changed(hunk: Hunk) -> list[Text]:
    gone = [_line(hunk.old_start + i + 1, "-", line, GONE) for i, line in enumerate(hunk.old_lines)]
    come = [_line(hunk.new_start + i + 1, "+", line, COME) for i, line in enumerate(hunk.new_lines)]
    return [*gone, *come]


def _line(number: int, sign: str, line: str, style: str) -> Text:
    text = Text(f"{number:>5} ", style=FAINT)
    return text.append(f"{sign} {harmless(line).expandtabs(4)}", style=style)
