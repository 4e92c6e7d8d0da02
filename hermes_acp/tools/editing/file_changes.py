"""Apply changes to files only if the files have not changed since the changes were shown."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import HermesError, WorkspaceError
from hermes_acp.core.event_types import Diff, FileVersion, Location, ToolKind
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Action, Deletes, Progress, Proposal, Result, Writes
from hermes_acp.core.record.file_versions import file_version
from hermes_acp.policy.sensitive_names import is_sensitive
from hermes_acp.telemetry.secret_files import secret_in
from hermes_acp.telemetry.secret_masks import foreign_mask
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.text_files import TextFile, decode

MAX_DIFF_CHARS: Final = 2_000_000
SHOWN_PART: Final = 100_000
CONTEXT_CHARACTERS: Final = 400
NOT_COVERED: Final = "(holds keys, not covered by undo)"


class FileChange(Struct, frozen=True):
    """A change to one file: its bytes `before` (None: missing) and `after` (None: deleted).

    `place` is the first changed line. An `is_unread` change does not depend on the file's earlier content.
    """

    diff: Diff
    before: bytes | None
    after: bytes | None
    place: Location
    is_unread: bool = False


def file_change(
    path: str, old_text: str | None, new_text: str, before: bytes | None, after: bytes | None
) -> FileChange:
    """Return a change with its diff: both whole texts or, for a large file, the part that changes.

    Raises WorkspaceError if the change would write the mask of a secret into the file.
    """
    if old_text is not None and (mask := foreign_mask(new_text, old_text)):
        raise WorkspaceError(
            f"{mask} hides a secret in {path}, and writing the mask there would destroy it.",
            hint="Change only the text around it, with edit_file.",
        )
    diff = Diff(path, old_text, new_text, is_deleted=after is None)
    if len(new_text) + len(old_text or "") > MAX_DIFF_CHARS:
        diff = _part_of(diff)
    return FileChange(diff, before, after, Location(path, first_changed_line(diff)))


def propose_change(workspace: Workspace, title: str, change: FileChange, note: str = "") -> Proposal:
    """Propose one change; `note` is appended to the result for the model."""
    return propose_changes(workspace, title, [change], note=note)


def propose_changes(
    workspace: Workspace,
    title: str,
    changes: Sequence[FileChange],
    *,
    kind: ToolKind = "edit",
    note: str = "",
) -> Proposal:
    """Propose changes to several files: all are made, or none if one fails."""
    has_keys = any(_holds_keys(change) for change in changes)
    return Proposal(
        title=f"{title} {NOT_COVERED}" if has_keys and not title.endswith(NOT_COVERED) else title,
        kind=kind,
        perform=_change_action(workspace, changes, note),
        effects=tuple(
            Deletes(change.diff.path) if change.after is None else Writes(change.diff.path, _keys_in(change))
            for change in changes
        ),
        locations=tuple(change.place for change in changes),
        diffs=tuple(change.diff for change in changes),
        replaces=tuple(
            file_version(change.diff.path, change.before)
            for change in changes
            if change.before is not None and not change.is_unread
        ),
        amend=partial(_amend, workspace, title, changes, kind, note),
    )


def _holds_keys(change: FileChange) -> bool:
    """Return whether the change affects a file that checkpoints leave out."""
    if is_sensitive(change.diff.path):
        return True
    return any(secret_in(content) for content in (change.before, change.after) if content)


def _keys_in(change: FileChange) -> str:
    """Return a description of the secret that a changed file contains."""
    return secret_in(change.before) if change.before else ""


def _amend(
    workspace: Workspace,
    title: str,
    changes: Sequence[FileChange],
    kind: ToolKind,
    note: str,
    texts: Mapping[str, str],
) -> Proposal:
    """Propose the same changes with different texts for some files, leaving out changes that become empty."""
    wanted = [_with_text(change, texts.get(change.diff.path), workspace) for change in changes]
    kept = [
        change for change in wanted if change.diff.path not in texts or change.after != (change.before or b"")
    ]
    if unknown := set(texts) - {change.diff.path for change in changes}:
        raise WorkspaceError(f"{min(unknown)} is not a file of this edit; nothing was changed.")
    if not kept:
        raise WorkspaceError("The user accepted no part of this edit; nothing was changed.")
    return propose_changes(workspace, title, kept, kind=kind, note=note)


def _with_text(change: FileChange, text: str | None, workspace: Workspace) -> FileChange:
    """Return a change with a different text, in the file's encoding."""
    if text is None:
        return change
    path, diff = change.diff.path, change.diff
    shown = shown_path(path, workspace)
    file = TextFile("") if change.before is None else decode(change.before, shown)
    if change.after is None or diff.first_line != 1 or decode(change.after, shown).text != diff.new_text:
        raise WorkspaceError(f"The change to {shown} can only be accepted as a whole; nothing was changed.")
    return file_change(path, diff.old_text, text, change.before, file.encode(text, shown))


def first_changed_line(diff: Diff) -> int:
    """Return the first line, counted from 1, at which the new text differs."""
    old, new = diff.old_text or "", diff.new_text
    line = new.count("\n", 0, common_length(old, new))
    return diff.first_line + min(line, max(0, new.count("\n") - new.endswith("\n")))


def common_length(one: str, other: str) -> int:
    """Return the length of two texts' common prefix; bisecting is much faster than comparing characters."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low


def _common_end(one: str, other: str, start: int) -> int:
    """Return the length of the common suffix of two texts after a position."""
    low, high = 0, min(len(one), len(other)) - start + 1
    while high - low > 1:
        middle = (low + high) // 2
        if one[len(one) - middle : len(one) - low] == other[len(other) - middle : len(other) - low]:
            low = middle
        else:
            high = middle
    return low


def _part_of(diff: Diff) -> Diff:
    """Return the diff of the lines around the first change, with as much of both sides as can be shown."""
    old, new = diff.old_text or "", diff.new_text
    start = old.rfind("\n", 0, max(0, common_length(old, new) - CONTEXT_CHARACTERS)) + 1
    tail = max(0, _common_end(old, new, start) - CONTEXT_CHARACTERS)
    old_end, new_end = len(old) - tail, len(new) - tail
    return Diff(
        diff.path,
        None if diff.old_text is None else old[start : min(old_end, start + SHOWN_PART)],
        new[start : min(new_end, start + SHOWN_PART)],
        is_deleted=diff.is_deleted,
        first_line=new.count("\n", 0, start) + 1,
    )


def _change_action(workspace: Workspace, changes: Sequence[FileChange], note: str) -> Action:
    async def make_changes(progress: Progress) -> Result:
        del progress
        for change in changes:
            if await workspace.read(change.diff.path, for_edit=True) != change.before:
                shown = shown_path(change.diff.path, workspace)
                return Result(
                    f"{shown} changed after this edit was prepared; nothing was written. Read it again.",
                    is_error=True,
                )
        await _make(workspace, changes)
        results = [await _verify_content(workspace, change) for change in changes]
        return Result(
            "\n".join((*(result.text for result in results), *((note,) if note else ()))),
            is_error=any(result.is_error for result in results),
            diffs=tuple(diff for result in results for diff in result.diffs),
            locations=tuple(place for result in results for place in result.locations),
            seen=tuple(version for result in results for version in result.seen),
        )

    return make_changes


async def _make(workspace: Workspace, changes: Sequence[FileChange]) -> None:
    """Make all changes; if one fails, revert the earlier ones.

    New content is written before anything is deleted.
    """
    done: list[FileChange] = []
    for change in sorted(changes, key=lambda each: each.after is None):
        try:
            await _put(workspace, change.diff.path, change.after)
        except HermesError as error:
            left = [each for each in reversed(done) if not await _roll_back(workspace, each)]
            if left:
                names = ", ".join(shown_path(each.diff.path, workspace) for each in left)
                raise WorkspaceError(
                    f"{error.message} These earlier changes could not be undone: {names}.",
                    hint="Check these files first.",
                ) from error
            raise
        done.append(change)


async def _put(workspace: Workspace, path: str, content: bytes | None) -> None:
    if content is None:
        await workspace.remove(path)
    else:
        await workspace.write(path, content)


async def _roll_back(workspace: Workspace, change: FileChange) -> bool:
    try:
        await _put(workspace, change.diff.path, change.before)
    except HermesError:
        return False
    return True


async def _verify_content(workspace: Workspace, change: FileChange) -> Result:
    """Report differences in the file's current content, because editors may format on save or ignore a write."""
    diff, after = change.diff, change.after
    shown = shown_path(diff.path, workspace)
    now = await workspace.read(diff.path)
    if after is None:
        gone = f"Deleted {shown}." if now is None else f"{shown} was deleted, but exists again."
        return Result(gone, is_error=now is not None, diffs=(diff,))
    if now is None:
        return Result(f"{shown} was written, but does not exist now.", is_error=True)
    verb = "Created" if diff.old_text is None else "Changed"
    if now == after:
        seen: tuple[FileVersion, ...] = (file_version(diff.path, now),)
        told = f"{verb} {shown} ({len(after):,} bytes)."
        return Result(told, diffs=(diff,), locations=(change.place,), seen=seen)
    real = file_change(diff.path, diff.old_text, decode(now, shown).text, None, now).diff
    return Result(
        f"{verb} {shown}, but something, perhaps a formatter, changed it immediately; read it again.",
        diffs=(real,),
        locations=(change.place,),
    )
