"""Send large diffs only once, and as hunks to clients that accept hunks instead of whole texts."""

from collections.abc import Sequence
from typing import Any, Final, cast

from hermes_acp.core.event_types import Diff
from hermes_acp.core.hunks import diff_hunks
from hermes_acp.frontends.acp.messages import conversation

MAX_REPEATED_CHARS: Final = 16_384
"""The maximum size of diffs that are sent with every message about their call."""
CONTEXT_LINES: Final = 3


def is_large(diffs: Sequence[Diff]) -> bool:
    """Return whether diffs are so large that they are sent only once: with the call's question, or else its end."""
    return sum(len(diff.old_text or "") + len(diff.new_text) for diff in diffs) > MAX_REPEATED_CHARS


def hunks_meta(diff: Diff) -> dict[str, Any] | None:
    """Return the `_meta` with a diff's hunks, or None if they would save little compared to the texts."""
    if diff.old_text is None or diff.is_deleted:
        return None
    lines = diff.old_text.split("\n")
    last = len(lines) - (not lines[-1])  # a line break at the end does not start another line
    hunks: list[dict[str, object]] = []
    size = 0
    for hunk in diff_hunks(diff.old_text, diff.new_text):
        end = hunk.old_start + len(hunk.old_lines)
        before = lines[max(0, hunk.old_start - CONTEXT_LINES) : hunk.old_start]
        after = lines[end : min(last, end + CONTEXT_LINES)]
        size += sum(map(len, (*before, *hunk.old_lines, *hunk.new_lines, *after)))
        hunks.append(
            {
                "oldStart": hunk.old_start + diff.first_line,
                "newStart": hunk.new_start + diff.first_line,
                "oldLines": hunk.old_lines,
                "newLines": hunk.new_lines,
                "before": before,
                "after": after,
            }
        )
    is_shorter = 2 * size < len(diff.old_text) + len(diff.new_text)
    return {"hermes": {"hunks": hunks}} if hunks and is_shorter else None


def brief_input(raw_input: object, diffs: Sequence[Diff]) -> object:
    """Return a call's arguments without the texts that its large diffs already contain."""
    if isinstance(raw_input, dict) and is_large(diffs):
        arguments = cast("dict[str, object]", raw_input)
        return {name: _brief(value, diffs) for name, value in arguments.items()}
    return cast("object", raw_input)


def _brief(value: object, diffs: Sequence[Diff]) -> object:
    if not isinstance(value, str) or len(value) <= MAX_REPEATED_CHARS:
        return value
    is_shown = any(value in diff.new_text for diff in diffs)
    return conversation.text_in_diff(len(value)) if is_shown else value


def text_with_changes(diff: Diff, changes: Sequence[tuple[int, int, Sequence[str]]]) -> str | None:
    """Apply line changes to a diff's old text; return None if they do not apply.

    A change consists of its first line (counted from 1), the number of lines to replace, and the new lines.
    """
    lines = (diff.old_text or "").split("\n")
    end = len(lines)
    for start, count, new_lines in sorted(changes, key=lambda change: change[0], reverse=True):
        first = start - diff.first_line
        if first < 0 or count < 0 or first + count > end:
            return None
        lines[first : first + count] = new_lines
        end = first
    return "\n".join(lines)
