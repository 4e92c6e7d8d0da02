"""The `notebook_edit` tool: change one cell of a notebook."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Proposal
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.editing.file_changes import file_change, propose_change
from hermes_acp.tools.editing.notebooks import ENDING, CellEdit, edit_notebook
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.text_files import decode, read_content
from hermes_acp.tools.tool_schemas import schema_of


class Arguments(BaseModel):
    """The cell, and the change to it."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    path: Annotated[str, Field(min_length=1)]
    """The notebook."""
    action: Literal["replace", "insert", "delete"] = "replace"
    """What to do."""
    cell: Annotated[
        str, Field(description="ID or number from 0; insert goes after it, or first without one")
    ] = ""
    """The cell, by ID or by number (from 0). `insert` adds the new cell after it or, if no cell is named, first."""
    source: str = ""
    """The new text of the cell."""
    type: Literal["code", "markdown", "raw"] | None = None
    """The new type of the cell."""


class NotebookEdit:
    """Replace, insert or delete a notebook cell, preserving the formatting of the rest."""

    name = "notebook_edit"
    kind: ToolKind = "edit"
    tool_metadata = ToolMetadata(capabilities=frozenset({"files"}), needs=frozenset({"read_file"}))
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Change a cell of a Jupyter notebook you have read.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call against the current notebook. Raises WorkspaceError if the cell does not match."""
        path = workspace.locate(arguments.path)
        shown = shown_path(path, workspace)
        if not path.endswith(ENDING):
            raise WorkspaceError(f"{shown} is not a notebook ({ENDING}).", hint="Use edit_file.")
        cell = arguments.cell
        if arguments.action != "insert" and not cell:
            raise WorkspaceError(
                "cell is missing.", hint="Read the notebook, which shows the cells with their numbers."
            )
        before = await read_content(workspace, path, to_change=True)
        file = decode(before, shown)
        edit = CellEdit(arguments.action, cell, arguments.source, arguments.type)
        text = edit_notebook(file.text, edit)
        if text == file.text:
            raise WorkspaceError("The cell already has that content.", hint="Nothing needs to be changed.")
        change = file_change(path, file.text, text, before, file.encode(text, shown))
        verb = {"replace": "Edit", "insert": "Insert", "delete": "Delete"}[arguments.action]
        place = f"cell {escape_invisible(cell)}" if arguments.action != "insert" else "a cell"
        return propose_change(workspace, f"{verb} {place} of {shown}", change)


TOOL = NotebookEdit()
