"""The tool that creates or replaces a file.

Knows: what the new content is. Does not know: how it gets onto a disk.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports import Workspace
from hermes_acp.core.proposals import Proposal
from hermes_acp.core.terms import Diff, ToolKind
from hermes_acp.tools.changes import propose_change
from hermes_acp.tools.schemas import schema_of
from hermes_acp.tools.text_files import TextFile, decode, read_if_present
from hermes_acp.tools.titles import shown_path


class Arguments(BaseModel):
    """Which file, and all it shall hold."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, Field(min_length=1)]
    content: str


class WriteFile:
    """Writes a file whole, in UTF-8."""

    name = "write_file"
    kind: ToolKind = "edit"
    is_cheap: bool = False
    is_repeatable: bool = True
    most_per_step: int | None = None
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Create a file or replace its whole content; makes folders.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Understand a call against what is there. Raises WorkspaceTrouble for a binary file or a folder."""
        path = workspace.locate(arguments.path)
        shown = shown_path(path, workspace)
        before = await read_if_present(workspace, path, to_change=True)
        diff = Diff(path, None if before is None else decode(before, shown).text, arguments.content)
        after = TextFile("").encode(arguments.content, shown)
        verb = "Create" if before is None else "Write"
        return propose_change(workspace, f"{verb} {shown}", diff, before, after)


TOOL = WriteFile()
