"""The tool that lists a folder.

Knows: how entries are shown and how many. Does not know: disks.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.exchanges import Entry
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Reads, Result
from hermes_acp.core.terms import Location, ToolKind
from hermes_acp.core.traits import Traits
from hermes_acp.tools.schemas import schema_of
from hermes_acp.tools.titles import shown_path, visible

MOST_ENTRIES = 500


class Arguments(BaseModel):
    """Which folder."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str | None, Field(description="Folder, default the working directory")] = None


class ListFiles:
    """Shows what is in a folder, with sizes."""

    name = "list_files"
    kind: ToolKind = "read"
    traits = Traits(capabilities=frozenset({"files"}), is_cheap=True, is_repeatable=True)
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "List a folder; names of folders end in /.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Understand a call; the folder is listed only when performed."""
        path = workspace.locate(arguments.path or ".")

        async def list_folder(progress: Progress) -> Result:
            del progress
            return Result(show_entries(await workspace.entries(path)), locations=(Location(path),))

        title = f"List {shown_path(path, workspace)}"
        return Proposal(title, self.kind, list_folder, (Reads(path),), (Location(path),))


def show_entries(entries: Sequence[Entry]) -> str:
    """Give one line an entry, MOST_ENTRIES at most, and say how many were left out. `.git` is never shown."""
    kept = [entry for entry in entries if entry.name.rstrip("/") != ".git"]
    if not kept:
        return "(empty)"
    lines = [
        visible(entry.name)
        if entry.name.endswith("/")
        else f"{visible(entry.name)}\t{show_size(entry.size_bytes)}"
        for entry in kept[:MOST_ENTRIES]
    ]
    if len(kept) > MOST_ENTRIES:
        lines.append(f"[{len(kept) - MOST_ENTRIES:,} more entries; narrow it down with search or terminal]")
    return "\n".join(lines)


def show_size(size_bytes: int) -> str:
    """Give a size for reading, such as `1.5 KiB`."""
    size, unit = float(size_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if size < 1024:
            break
        size, unit = size / 1024, larger
    return f"{size_bytes} B" if unit == "B" else f"{size:.1f} {unit}"


TOOL = ListFiles()
