"""The `edit_file` tool: replace passages in a file."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Proposal
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.tools.editing.file_changes import FileChange, file_change, propose_change
from hermes_acp.tools.editing.replacements import Replacement, replace
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.text_files import decode, read_content
from hermes_acp.tools.tool_schemas import schema_of

AT_ONCE_BYTES = 64 * 1024
"""Below this size, searching takes less time than waking up a thread."""


class EditArguments(BaseModel):
    """One passage."""

    model_config = ConfigDict(extra="forbid")

    old_text: str
    """The exact text to replace."""
    new_text: str
    """The text that replaces it."""
    replace_all: bool = False
    """Replace every occurrence."""


class Arguments(BaseModel):
    """The file, the text to replace, and its replacement."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, Field(min_length=1)]
    """The file."""
    old_text: Annotated[str, Field(description="Exact text, without line numbers; must occur once")] = ""
    """The exact text to replace. It must occur exactly once."""
    new_text: str = ""
    """The text that replaces it."""
    replace_all: Annotated[bool, Field(description="Replace every occurrence")] = False
    """Replace every occurrence."""
    edits: Annotated[
        list[EditArguments] | None,
        Field(description="Several, instead; each is applied after the ones before it"),
    ] = None
    """Several replacements instead. Each one applies to the result of the previous ones."""

    def replacements(self) -> Sequence[Replacement]:
        """Return all replacements, in order. Raises WorkspaceError for an empty one."""
        replacements = [
            Replacement(each.old_text, each.new_text, each.replace_all) for each in self.edits or ()
        ]
        if self.old_text or not replacements:
            replacements.insert(0, Replacement(self.old_text, self.new_text, self.replace_all))
        for each in replacements:
            if not each.old:
                raise WorkspaceError("old_text is empty.", hint="Use write_file to fill a file.")
            if each.old == each.new:
                raise WorkspaceError(
                    "old_text and new_text are the same.", hint="Nothing needs to be changed."
                )
        return replacements


class EditFile:
    """Replace one or more passages in a file, preserving its encoding and line endings."""

    name = "edit_file"
    kind: ToolKind = "edit"
    tool_metadata = ToolMetadata(capabilities=frozenset({"files"}), needs=frozenset({"read_file"}))
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Replace text in a file you have read.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call against the current file. Raises WorkspaceError if a passage does not match."""
        path = workspace.locate(arguments.path)
        shown = shown_path(path, workspace)
        replacements = arguments.replacements()
        before = await read_content(workspace, path, to_change=True)
        work = partial(_replace_all, path, shown, before, replacements)
        change, note = work() if len(before) <= AT_ONCE_BYTES else await run_sync(work)
        count = f" ({len(replacements)} passages)" if len(replacements) > 1 else ""
        return propose_change(workspace, f"Edit {shown}{count}", change, note)


def _replace_all(
    path: str, shown: str, before: bytes, replacements: Sequence[Replacement]
) -> tuple[FileChange, str]:
    """Replace the passages in order, all or none, and note those that were not found verbatim."""
    file = decode(before, shown)
    text, notes = file.text, list[str]()
    for number, each in enumerate(replacements, 1):
        try:
            done = replace(text, each, file.newline)
        except WorkspaceError as error:
            if len(replacements) == 1:
                raise
            told = f"Edit {number} of {len(replacements)}: {error.message}"
            raise WorkspaceError(told, hint=f"{error.hint} Nothing was changed.") from error
        text = done.text
        if done.note:
            notes.append(f"[{done.note}]" if len(replacements) == 1 else f"[edit {number}: {done.note}]")
    return file_change(path, file.text, text, before, file.encode(text, shown)), "\n".join(notes)


TOOL = EditFile()
