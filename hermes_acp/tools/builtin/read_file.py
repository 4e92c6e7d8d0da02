"""The tool that reads a text file by lines.

Knows: numbering, bounds on lines and columns. Does not know: disks, encodings.
"""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import WorkspaceTrouble
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Reads, Result
from hermes_acp.core.terms import Location, ToolKind
from hermes_acp.tools.schemas import schema_of
from hermes_acp.tools.text_files import TextFile, decode, read_content
from hermes_acp.tools.titles import shown_path

DEFAULT_LINES = 2000
LONGEST_LINE = 2000
LONGEST_OUTPUT = 200_000


class Arguments(BaseModel):
    """Which file, and which of its lines."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, Field(min_length=1)]
    offset: Annotated[int | None, Field(ge=1, description="First line, from 1")] = None
    limit: Annotated[int | None, Field(ge=1, description=f"Lines to read, default {DEFAULT_LINES}")] = None


class ReadFile:
    """Shows a file's lines with their numbers."""

    name = "read_file"
    kind: ToolKind = "read"
    is_cheap: bool = True
    is_repeatable: bool = True
    most_per_step: int | None = None
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Read a text file; lines come numbered.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Understand a call; the file itself is read only when performed."""
        path = workspace.locate(arguments.path)
        first = arguments.offset or 1
        limit = arguments.limit or DEFAULT_LINES
        shown = shown_path(path, workspace)
        last = str(first + limit - 1) if arguments.limit else ""
        span = f":{first}-{last}" if arguments.limit or arguments.offset else ""

        async def read(progress: Progress) -> Result:
            del progress
            file = decode(await read_content(workspace, path), shown)
            return Result(show_lines(file, shown, first, limit), locations=(Location(path, first),))

        return Proposal(f"Read {shown}{span}", self.kind, read, (Reads(path),), (Location(path, first),))


def show_lines(file: TextFile, shown: str, first: int, limit: int) -> str:
    """Give numbered lines and a note on what is left. Raises WorkspaceTrouble for a start beyond the end."""
    lines = file.text.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        return f"({shown} is empty)"
    if first > len(lines):
        raise WorkspaceTrouble(
            f"{shown} has only {len(lines)} lines.", hint=f"Use an offset from 1 to {len(lines)}."
        )
    pieces: list[str] = []
    size = 0
    for number in range(first, min(first + limit, len(lines) + 1)):
        line = lines[number - 1]
        cut = f" [… {len(line) - LONGEST_LINE:,} more characters]" if len(line) > LONGEST_LINE else ""
        pieces.append(f"{number:6}\t{line[:LONGEST_LINE]}{cut}")
        size += len(pieces[-1])
        if size > LONGEST_OUTPUT:
            break
    following = first + len(pieces)
    if file.encoding != "utf-8" or file.mark:
        mark = " with a byte-order mark" if file.mark else ""
        pieces.append(f"[encoded in {file.encoding}{mark}]")
    if (left := len(lines) - following + 1) > 0:
        pieces.append(f"[{left:,} more lines; continue with offset={following}]")
    return "\n".join(pieces)


TOOL = ReadFile()
