"""The tool that replaces one passage of a file.

Knows: the old words and the new. Does not know: how they are searched, or written back.
"""

from functools import partial
from typing import Annotated

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import WorkspaceTrouble
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports import Workspace
from hermes_acp.core.proposals import Proposal
from hermes_acp.core.terms import Diff, ToolKind
from hermes_acp.tools.changes import propose_change
from hermes_acp.tools.replacements import Passage, replace
from hermes_acp.tools.schemas import schema_of
from hermes_acp.tools.text_files import decode, read_content
from hermes_acp.tools.titles import shown_path


class Arguments(BaseModel):
    """Which file, which words, and what comes in their place."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, Field(min_length=1)]
    old_text: Annotated[str, Field(description="Exact text, without line numbers; must occur once")]
    new_text: str
    replace_all: Annotated[bool, Field(description="Replace every occurrence")] = False


class EditFile:
    """Replaces text in a file and keeps its encoding and line ends."""

    name = "edit_file"
    kind: ToolKind = "edit"
    is_cheap: bool = False
    is_repeatable: bool = False
    most_per_step: int | None = None
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Replace text in a file.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Understand a call against the file as it is. Raises WorkspaceTrouble where it does not fit."""
        path = workspace.locate(arguments.path)
        shown = shown_path(path, workspace)
        if not arguments.old_text:
            raise WorkspaceTrouble("old_text is empty.", hint="Use write_file to fill a file.")
        if arguments.old_text == arguments.new_text:
            raise WorkspaceTrouble("old_text and new_text are the same.", hint="Nothing needs to be changed.")
        before = await read_content(workspace, path, to_change=True)
        file = decode(before, shown)
        passage = Passage(arguments.old_text, arguments.new_text, arguments.replace_all)
        text = await run_sync(partial(replace, file.text, passage, file.newline))
        diff = Diff(path, file.text, text)
        return propose_change(workspace, f"Edit {shown}", diff, before, file.encode(text, shown))


TOOL = EditFile()
