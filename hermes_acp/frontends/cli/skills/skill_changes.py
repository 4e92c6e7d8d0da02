"""Format how a skill's new version differs from the installed one, as unified diffs of limited length."""

from collections.abc import Iterator
from difflib import unified_diff
from typing import TYPE_CHECKING, Final

from hermes_acp.frontends.cli.cli_output import escaped
from hermes_acp.frontends.cli.messages import skill_messages

if TYPE_CHECKING:
    from hermes_acp.skills.git_source import Blob
    from hermes_acp.skills.skill_hub import LockEntry, SkillCandidate

MAX_DIFF_LINES: Final = 80
"""The limit for each file, so that a long diff cannot hide another file."""
MAX_LINE_CHARACTERS: Final = 500
MAX_COMPARED_LINES: Final = 20_000
"""The maximum number of lines of a file that is compared; longer files would take too long."""
COMMIT_CHARACTERS: Final = 12


def versions_line(candidate: "SkillCandidate", locked: "LockEntry") -> str:
    """Describe the installed and the new version of a skill, by a tap's versions or by commits; empty for a folder."""
    fetched = candidate.fetched
    if locked.version and fetched.version:
        return skill_messages.new_version(str(locked.version), str(fetched.version))
    old, new = locked.commit[:COMMIT_CHARACTERS], fetched.commit[:COMMIT_CHARACTERS]
    return skill_messages.new_commit(old, new) if old and new else ""


def change_lines(candidate: "SkillCandidate") -> Iterator[str]:
    """Yield the changed files of a skill with their diffs, escaped."""
    for change in candidate.changes:
        yield f"  {escaped(change)}"
        path = change[2:]
        old, new = candidate.before.get(path), candidate.files.get(path)
        yield from (f"    {escaped(line)}" for line in _differences(old, new))


def _differences(old: "Blob | None", new: "Blob | None") -> Iterator[str]:
    if old and new and old.is_executable != new.is_executable:
        yield skill_messages.mode_changed(is_executable=new.is_executable)
    before, after = _lines_of(old), _lines_of(new)
    if before is None or after is None:
        yield skill_messages.NOT_COMPARED
        return
    lines = list(unified_diff(before, after, n=2, lineterm=""))[2:]
    for line in lines[:MAX_DIFF_LINES]:
        left = len(line) - MAX_LINE_CHARACTERS
        yield line if left <= 0 else line[:MAX_LINE_CHARACTERS] + skill_messages.line_cut(left)
    if len(lines) > MAX_DIFF_LINES:
        yield skill_messages.diff_cut(len(lines) - MAX_DIFF_LINES)


def _lines_of(file: "Blob | None") -> list[str] | None:
    """Return a file's lines, or None if it is not text or too long to be compared."""
    from hermes_acp.skills.skill_validation import text_of

    text = text_of(file.content) if file else ""
    if text is None or text.count("\n") > MAX_COMPARED_LINES:
        return None
    return text.split("\n") if text else []
