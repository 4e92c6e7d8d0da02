"""Render file changes, hunk by hunk."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
from msgspec import Struct
from rich.text import Text

from hermes_acp.core.hunks import Hunk, diff_hunks
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.frontends.chat import messages
from hermes_acp.frontends.chat.rendering.terminal_text import sanitize
from hermes_acp.frontends.chat.rendering.word_marks import changed_words
from hermes_protocol import v1

CONTEXT_LINES: Final = 3
MAX_LINES: Final = 60
REMOVED_STYLE: Final = "red"
ADDED_STYLE: Final = "green"
FAINT_STYLE: Final = "dim"
MARKED_STYLE: Final = "reverse"
MAX_MARKED_LINES: Final = 40
SIGN_COLUMNS: Final = 8
"""The width of what precedes a line's text: its number, a space, its sign, a space."""


class _SentHunk(Struct, rename="camel"):
    """A hunk with its context lines; line numbers start at 1."""

    old_start: int
    new_start: int
    old_lines: list[str]
    new_lines: list[str]
    before: list[str] = []
    after: list[str] = []

    @property
    def end(self) -> int:
        """The number of the hunk's last old line, which is also the number of lines up to its end."""
        return self.old_start - 1 + len(self.old_lines)


class _Said(Struct):
    hunks: list[_SentHunk] = []


def _sent_hunks(diff: v1.Diff) -> list[_SentHunk]:
    """Return the hunks that were sent instead of the whole texts, if any."""
    if not isinstance(diff.meta, dict):
        return []
    try:
        return msgspec.convert(diff.meta.get("hermes") or {}, _Said).hunks
    except msgspec.ValidationError:
        return []


def old_text(diff: v1.Diff) -> str:
    """Return the text before the change; empty for a new file.

    If the diff was sent as hunks, lines outside of hunks and their context are empty.
    """
    if sent := _sent_hunks(diff):
        lines = [""] * max(hunk.end + len(hunk.after) for hunk in sent)
        for hunk in sent:
            first = hunk.old_start - 1
            lines[first - len(hunk.before) : first] = hunk.before
            lines[first : hunk.end] = hunk.old_lines
            lines[hunk.end : hunk.end + len(hunk.after)] = hunk.after
        last = sent[-1]
        ends_open = not last.after and last.old_lines[-1:] == [""]
        return "\n".join(lines if ends_open else (*lines, ""))  # assume a line break after the last line
    return diff.old_text if isinstance(diff.old_text, str) else ""


def came_as_hunks(diff: v1.Diff) -> bool:
    """Return whether the agent sent hunks instead of the whole texts."""
    return bool(_sent_hunks(diff))


def hunks_of(diff: v1.Diff) -> tuple[Hunk, ...]:
    """Return a diff's hunks in order."""
    if sent := _sent_hunks(diff):
        return tuple(
            Hunk(hunk.old_start - 1, tuple(hunk.old_lines), hunk.new_start - 1, tuple(hunk.new_lines))
            for hunk in sent
        )
    return diff_hunks(old_text(diff), diff.new_text)


def headline(diff: v1.Diff, cwd: str) -> Text:
    """Return a file's name with the numbers of added and removed lines."""
    hunks = hunks_of(diff)
    come, gone = sum(len(h.new_lines) for h in hunks), sum(len(h.old_lines) for h in hunks)
    name = Text(shown_path(diff.path, cwd), style="bold")
    if not isinstance(diff.old_text, str):
        name.append(f" {messages.NEW_FILE}", style=FAINT_STYLE)
        gone = 0
    return name.append(f"  +{come}", style=ADDED_STYLE).append(f" -{gone}", style=REMOVED_STYLE)


def render_diff(diff: v1.Diff, cwd: str, most: int = MAX_LINES) -> Text:
    """Render a file's change; lines beyond `most` are only counted."""
    lines = list(_lines(diff))
    text = headline(diff, cwd)
    for line in lines[:most]:
        text.append("\n").append_text(line)
    if len(lines) > most:
        text.append(f"\n  {messages.more_lines(len(lines) - most)}", style=FAINT_STYLE)
    return text


def render_hunk(diff: v1.Diff, hunk: Hunk) -> Text:
    """Render one hunk with its context lines."""
    before = old_text(diff).split("\n")
    end = hunk.old_start + len(hunk.old_lines)
    lines = [
        *_context(before, max(0, hunk.old_start - CONTEXT_LINES), hunk.old_start, _shift_before(hunk)),
        *_changed(hunk),
        *_context(before, end, min(len(before), end + CONTEXT_LINES), _shift_after(hunk)),
    ]
    return Text("\n").join(lines)


def shown_path(path: str, cwd: str) -> str:
    """Format a path for display: relative if it is below the working directory, escaped, on one line."""
    top = cwd.rstrip("/") + "/"
    return escape_invisible(path.removeprefix(top))


def _lines(diff: v1.Diff) -> Iterator[Text]:
    before, hunks = old_text(diff).split("\n"), hunks_of(diff)
    at = 0
    for number, hunk in enumerate(hunks):
        start = max(at, hunk.old_start - CONTEXT_LINES)
        if start > at and number:
            yield Text("  ⋮", style=FAINT_STYLE)
        yield from _context(before, start, hunk.old_start, _shift_before(hunk))
        yield from _changed(hunk)
        at = hunk.old_start + len(hunk.old_lines)
        following = hunks[number + 1].old_start if number + 1 < len(hunks) else len(before)
        end = min(at + CONTEXT_LINES, following)
        yield from _context(before, at, end, _shift_after(hunk))
        at = end


def _shift_before(hunk: Hunk) -> int:
    """Return the offset between old and new line numbers before a hunk."""
    return hunk.new_start - hunk.old_start


def _shift_after(hunk: Hunk) -> int:
    return _shift_before(hunk) + len(hunk.new_lines) - len(hunk.old_lines)


def _context(lines: Sequence[str], start: int, end: int, shift: int) -> list[Text]:
    """Render unchanged lines with their new line numbers."""
    last = len(lines) - (not lines[-1])  # a line break at the end does not start another line
    return [
        _line(number + shift + 1, " ", _shown(lines[number]), FAINT_STYLE)
        for number in range(start, min(end, last))
    ]


def _changed(hunk: Hunk) -> list[Text]:
    """Render the lines of a hunk; if the numbers of removed and added lines are equal, highlight differing words."""
    old, new = [_shown(line) for line in hunk.old_lines], [_shown(line) for line in hunk.new_lines]
    gone = [_line(hunk.old_start + i + 1, "-", line, REMOVED_STYLE) for i, line in enumerate(old)]
    come = [_line(hunk.new_start + i + 1, "+", line, ADDED_STYLE) for i, line in enumerate(new)]
    for at in range(len(old) if len(old) == len(new) <= MAX_MARKED_LINES else 0):
        for text, spans in zip((gone[at], come[at]), changed_words(old[at], new[at]), strict=True):
            for start, end in spans:
                text.stylize(MARKED_STYLE, SIGN_COLUMNS + start, SIGN_COLUMNS + end)
    return [*gone, *come]


def _shown(line: str) -> str:
    return sanitize(line).replace("\n", "␊").expandtabs(4)


def _line(number: int, sign: str, line: str, style: str) -> Text:
    text = Text(f"{number:>5} ", style=FAINT_STYLE)
    return text.append(f"{sign} {line}", style=style)
