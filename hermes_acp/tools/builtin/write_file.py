"""The `write_file` tool: create or replace a file."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Proposal
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.tools.editing.file_changes import file_change, propose_change
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.text_files import TextFile, decode, read_if_present
from hermes_acp.tools.tool_schemas import schema_of


class Arguments(BaseModel):
    """The file and its new content."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, Field(min_length=1)]
    """The file."""
    content: str
    """The file's whole content."""


class WriteFile:
    """Create or replace a whole file. An existing file keeps its encoding; a new one is UTF-8."""

    name = "write_file"
    kind: ToolKind = "edit"
    tool_metadata = ToolMetadata(capabilities=frozenset({"files"}), is_repeatable=True)
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(
            self.name, "Create a file, or replace the whole of one you have read; creates folders.", Arguments
        )

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call against the current file. Raises WorkspaceError for a binary file or a folder."""
        path = workspace.locate(arguments.path)
        shown = shown_path(path, workspace)
        before = await read_if_present(workspace, path, to_change=True)
        if before is None:
            after = TextFile("").encode(arguments.content, shown)
            change = file_change(path, None, arguments.content, None, after)
            return propose_change(workspace, f"Create {shown}", change)
        file = decode(before, shown)
        after = TextFile("").encode(arguments.content, shown)
        if file.mark or file.encoding != "utf-8":
            after = file.encode(arguments.content, shown)
        change = file_change(path, file.text, arguments.content, before, after)
        return propose_change(workspace, f"Write {shown}", change)


TOOL = WriteFile()
