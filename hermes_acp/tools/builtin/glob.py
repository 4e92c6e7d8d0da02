"""The `glob` tool: find files by name."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.event_types import Location, ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import FileQuery, Workspace
from hermes_acp.core.proposals import Progress, Proposal, Reads, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.tool_schemas import schema_of

MAX_FILES = 200


class Arguments(BaseModel):
    """The file name pattern, and where to search."""

    model_config = ConfigDict(extra="forbid")

    pattern: Annotated[str, Field(min_length=1, description="Such as *.{ts,tsx} or src/**/test_*.py")]
    """A glob, such as `*.{ts,tsx}` or `src/**/test_*.py`."""
    path: Annotated[str | None, Field(description="Folder, default the working directory")] = None
    """The folder. Default: the working directory."""
    ignored: Annotated[bool, Field(description="Find ignored files too")] = False
    """Find ignored files too."""


class Glob:
    """Find files by name, newest first."""

    name = "glob"
    kind: ToolKind = "search"
    tool_metadata = ToolMetadata(capabilities=frozenset({"files"}), is_cheap=True, is_repeatable=True)
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Find files by name, newest first.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call; the search starts only when the call is performed.

        Raises WorkspaceError for a missing folder.
        """
        path = workspace.locate(arguments.path or ".")
        if path != workspace.cwd:
            await workspace.entries(path)
        query = FileQuery(arguments.pattern, path, MAX_FILES + 1, arguments.ignored)

        async def find(progress: Progress) -> Result:
            del progress
            found = await workspace.find(query)
            if not found.paths:
                ignored = "" if arguments.ignored else " Ignored files are left out; ignored=true finds them."
                return Result(f"No file matches {escape_invisible(arguments.pattern)}.{ignored}")
            lines = [shown_path(each, workspace) for each in found.paths[:MAX_FILES]]
            if not found.is_by_time:
                lines.append(
                    f"[{found.matched:,} files match, too many to find the newest; the {MAX_FILES} in the fewest "
                    "folders are shown; narrow the pattern or the path]"
                )
            elif len(found.paths) > MAX_FILES:
                lines.append(f"[only the newest {MAX_FILES} are shown; narrow the pattern or the path]")
            return Result("\n".join(lines))

        places = "" if path == workspace.cwd else f" in {shown_path(path, workspace)}"
        title = f"Find {escape_invisible(arguments.pattern)}{places}"
        return Proposal(title, self.kind, find, (Reads(path),), (Location(path),))


TOOL = Glob()
