"""The `apply_patch` tool: change several files with one patch.

The whole patch is applied in memory before the user is asked; if any part does not fit, nothing changes.
"""

from collections.abc import Sequence
from functools import partial

from anyio.to_thread import run_sync
from msgspec import structs
from pydantic import BaseModel, ConfigDict

from hermes_acp.core.errors import BadRequest, HermesError, WorkspaceError
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Proposal
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.tools.editing.file_changes import FileChange, file_change, propose_changes
from hermes_acp.tools.editing.hunk_application import apply_hunks, new_text
from hermes_acp.tools.editing.patch_parsing import FilePatch, read_patch
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.text_files import TextFile, decode, read_content, read_if_present
from hermes_acp.tools.tool_schemas import schema_of

MAX_NAMES = 3


class Arguments(BaseModel):
    """The patch."""

    model_config = ConfigDict(extra="forbid")

    patch: str
    """The patch: `*** Begin Patch`, or a unified diff."""


class ApplyPatch:
    """Change, create, delete and move several files with one patch; all changes apply, or none."""

    name = "apply_patch"
    kind: ToolKind = "edit"
    tool_metadata = ToolMetadata(capabilities=frozenset({"files"}), needs=frozenset({"read_file"}))
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        about = (
            "Change, add, delete or move several files at once: `*** Begin Patch` … `*** End Patch` with "
            "Add/Update/Delete File and Move to, or a unified diff."
        )
        return schema_of(self.name, about, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a patch against the current files. Raises WorkspaceError, or BadRequest for an invalid patch."""
        files = read_patch(arguments.patch)
        changes: list[FileChange] = []
        for file in files:
            try:
                changes += await _changes_of(file, workspace)
            except HermesError as error:
                if len(files) == 1:
                    raise
                told = f"{file.path[:200]}: {error.message} No part of the patch was applied."
                raise WorkspaceError(told, hint=error.hint) from error
        paths = [change.diff.path for change in changes]
        if twice := next((path for path in paths if paths.count(path) > 1), None):
            raise BadRequest(
                f"The patch names {shown_path(twice, workspace)} twice.",
                hint="Put all hunks of a file together.",
            )
        return propose_changes(workspace, _title(files, changes, workspace), changes, kind=_kind(files))


async def _changes_of(file: FilePatch, workspace: Workspace) -> Sequence[FileChange]:
    path = workspace.locate(file.path)
    shown = shown_path(path, workspace)
    if file.action == "add":
        await _require_absence(path, shown, workspace)
        text = new_text(file.hunks)
        return [file_change(path, None, text, None, TextFile("").encode(text, shown))]
    before = await read_content(workspace, path, to_change=True)
    if file.action == "delete":
        gone = file_change(path, _text_of(before, shown), "", before, None)
        return [structs.replace(gone, is_unread=True)]
    decoded = decode(before, shown) if file.hunks else TextFile(_text_of(before, shown))
    text, after = decoded.text, before
    if file.hunks:
        text = await run_sync(partial(apply_hunks, decoded.text, file.hunks, decoded.newline))
        after = decoded.encode(text, shown)
    elif not file.moved_to:
        raise BadRequest(
            f"The patch changes nothing in {shown}.", hint="Leave the file out, or send its hunks."
        )
    target = workspace.locate(file.moved_to) if file.moved_to else path
    if target == path:
        return [file_change(path, decoded.text, text, before, after)]
    await _require_absence(target, shown_path(target, workspace), workspace)
    gone = file_change(path, decoded.text, "", before, None)
    return [file_change(target, None, text, None, after), structs.replace(gone, is_unread=not file.hunks)]


def _text_of(content: bytes, shown: str) -> str:
    """Return the displayable text of a file to be deleted, whatever its content."""
    try:
        return decode(content, shown).text
    except WorkspaceError:
        return ""


async def _require_absence(path: str, shown: str, workspace: Workspace) -> None:
    if await read_if_present(workspace, path, to_change=True) is not None:
        raise WorkspaceError(f"There is already a file {shown}.", hint="Update it, or choose another name.")


def _kind(files: Sequence[FilePatch]) -> ToolKind:
    if all(file.action == "delete" for file in files):
        return "delete"
    return "move" if all(file.moved_to and not file.hunks for file in files) else "edit"


def _title(files: Sequence[FilePatch], changes: Sequence[FileChange], workspace: Workspace) -> str:
    verbs = {"add": "Create", "delete": "Delete", "update": "Edit"}
    if len(files) == 1:
        names = [shown_path(change.diff.path, workspace) for change in changes]
        return f"Move {names[1]} to {names[0]}" if len(names) > 1 else f"{verbs[files[0].action]} {names[0]}"
    named = ", ".join(shown_path(change.diff.path, workspace) for change in changes[:MAX_NAMES])
    more = f" and {len(changes) - MAX_NAMES} more" if len(changes) > MAX_NAMES else ""
    return f"Patch {len(files)} files: {named}{more}"


TOOL = ApplyPatch()
