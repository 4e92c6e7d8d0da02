"""The `list_files` tool: list a folder."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.event_types import Location, ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import DirectoryEntry, Workspace
from hermes_acp.core.proposals import Progress, Proposal, Reads, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.tool_schemas import schema_of

MAX_ENTRIES = 500


class Arguments(BaseModel):
    """The folder to list."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str | None, Field(description="Folder, default the working directory")] = None
    """The folder. Default: the working directory."""


class ListFiles:
    """List a folder's entries with their sizes."""

    name = "list_files"
    kind: ToolKind = "read"
    tool_metadata = ToolMetadata(capabilities=frozenset({"files"}), is_cheap=True, is_repeatable=True)
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "List a folder; folder names end in /.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call; the folder is listed only when the call is performed."""
        path = workspace.locate(arguments.path or ".")

        async def list_folder(progress: Progress) -> Result:
            del progress
            return Result(show_entries(await workspace.entries(path)), locations=(Location(path),))

        title = f"List {shown_path(path, workspace)}"
        return Proposal(title, self.kind, list_folder, (Reads(path),), (Location(path),))


def show_entries(entries: Sequence[DirectoryEntry]) -> str:
    """Return one line per entry, at most MAX_ENTRIES, and a note on how many were left out. `.git` is never shown."""
    kept = [entry for entry in entries if entry.name.rstrip("/") != ".git"]
    if not kept:
        return "(empty)"
    lines = [
        escape_invisible(entry.name)
        if entry.name.endswith("/")
        else f"{escape_invisible(entry.name)}\t{show_size(entry.size_bytes)}"
        for entry in kept[:MAX_ENTRIES]
    ]
    if len(kept) > MAX_ENTRIES:
        lines.append(f"[{len(kept) - MAX_ENTRIES:,} more entries; narrow it down with search or terminal]")
    return "\n".join(lines)


def show_size(size_bytes: int) -> str:
    """Return a human-readable size, such as `1.5 KiB`."""
    size, unit = float(size_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size_bytes} B" if unit == "B" else f"{size:.1f} {unit}"


TOOL = ListFiles()
