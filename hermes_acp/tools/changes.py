"""One change to one file, carried out only if the file still is what the change was shown against.

Knows: bytes before and after, reading again. Does not know: how the change was made up.
"""

from hermes_acp.core.errors import WorkspaceTrouble
from hermes_acp.core.ports import Workspace
from hermes_acp.core.proposals import Action, Progress, Proposal, Result, Writes
from hermes_acp.core.terms import Diff, Location
from hermes_acp.telemetry.masks import foreign_mask
from hermes_acp.tools.text_files import decode
from hermes_acp.tools.titles import shown_path


def propose_change(
    workspace: Workspace, title: str, diff: Diff, before: bytes | None, after: bytes
) -> Proposal:
    """Offer to make `before` (None: no file) into `after`; `diff` shows the same change as text.

    Raises WorkspaceTrouble where the words that hide a secret would take its place in the file.
    """
    if diff.old_text is not None and (mask := foreign_mask(diff.new_text, diff.old_text)):
        raise WorkspaceTrouble(
            f"{mask} hides a secret in {shown_path(diff.path, workspace)}, and writing it there would destroy that.",
            hint="Change only the text around it, with edit_file.",
        )
    places = (Location(diff.path, first_changed_line(diff)),)
    return Proposal(
        title=title,
        kind="edit",
        perform=_write_action(workspace, diff, before, after),
        effects=(Writes(diff.path),),
        locations=places,
        diffs=(diff,),
    )


def first_changed_line(diff: Diff) -> int:
    """Give the line, counted from 1, at which the new text first differs."""
    old = (diff.old_text or "").split("\n")
    new = diff.new_text.split("\n")
    same = next(
        (number for number, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), None
    )
    return 1 + (min(len(old), len(new)) - 1 if same is None else same)


def _write_action(workspace: Workspace, diff: Diff, before: bytes | None, after: bytes) -> Action:
    async def write_change(progress: Progress) -> Result:
        del progress
        shown = shown_path(diff.path, workspace)
        if await workspace.read_to_change(diff.path) != before:
            return Result(
                f"{shown} changed since this edit was prepared, nothing was written; read it again.",
                is_error=True,
            )
        await workspace.write(diff.path, after)
        return await _look_again(workspace, diff, after)

    return write_change


async def _look_again(workspace: Workspace, diff: Diff, after: bytes) -> Result:
    """Report what is in the file now: an editor may format on save, or acknowledge what it did not write."""
    shown = shown_path(diff.path, workspace)
    now = await workspace.read(diff.path)
    places = (Location(diff.path, first_changed_line(diff)),)
    if now is None:
        return Result(f"{shown} was written, but there is no such file now.", is_error=True)
    verb = "Created" if diff.old_text is None else "Changed"
    if now == after:
        return Result(f"{verb} {shown} ({len(after):,} bytes).", diffs=(diff,), locations=places)
    real = Diff(diff.path, diff.old_text, decode(now, shown).text)
    return Result(
        f"{verb} {shown}, and something, perhaps a formatter, altered it at once; read it again.",
        diffs=(real,),
        locations=places,
    )
