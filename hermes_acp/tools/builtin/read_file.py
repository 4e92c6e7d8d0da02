"""The `read_file` tool: read text by lines, notebooks by cells, and images unchanged."""

from typing import Annotated

from msgspec import structs
from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import FileTooLarge, WorkspaceError
from hermes_acp.core.event_types import Location, ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Reads, Result
from hermes_acp.core.record.file_versions import file_version
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.telemetry.secret_files import secret_in
from hermes_acp.tools.editing.notebooks import ENDING, show_notebook
from hermes_acp.tools.image_files import image_type, refuse_large_image, to_image
from hermes_acp.tools.large_files import LARGE_BYTES, read_part
from hermes_acp.tools.line_views import show_lines
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.secret_checks import inspect_file
from hermes_acp.tools.text_files import decode, read_content
from hermes_acp.tools.tool_schemas import schema_of

DEFAULT_LINES = 2000
HEAD_BYTES = 16


class Arguments(BaseModel):
    """The file, and the lines to read."""

    model_config = ConfigDict(extra="forbid")

    path: Annotated[str, Field(min_length=1)]
    """The file."""
    offset: Annotated[int | None, Field(ge=1, description="First line, from 1")] = None
    """The first line, from 1."""
    limit: Annotated[int | None, Field(ge=1, description=f"Lines to read, default {DEFAULT_LINES}")] = None
    """The number of lines. Default: 2,000."""


class ReadFile:
    """Read text with line numbers, notebooks by cell, and images for models that accept them."""

    name = "read_file"
    kind: ToolKind = "read"
    tool_metadata = ToolMetadata(
        capabilities=frozenset({"files"}), is_cheap=True, is_repeatable=True, quotes="file"
    )
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Read a text file (lines come numbered), notebook or picture.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call; before the call is performed, the file is only checked for secrets."""
        path = workspace.locate(arguments.path)
        first = arguments.offset or 1
        limit = arguments.limit or DEFAULT_LINES
        shown = shown_path(path, workspace)
        last = str(first + limit - 1) if arguments.limit else ""
        span = f":{first}-{last}" if arguments.limit or arguments.offset else ""
        places = (Location(path, first),)
        inspected = await inspect_file(workspace, path, arguments.path)
        secret = inspected.secret
        is_large = inspected.size_bytes > LARGE_BYTES and (span or not path.endswith(ENDING))

        async def read(progress: Progress) -> Result:
            if is_large and (result := await _read_large(workspace, path, shown, first, limit)):
                return structs.replace(result, locations=places)
            try:
                content = await read_content(workspace, path)
            except FileTooLarge:
                text = (await read_part(workspace, path, shown, first, limit)).text
                return Result(text, locations=places)
            found = secret_in(content)
            if found and not secret and not progress.allows(Reads(path, found)):
                raise WorkspaceError(f"{shown} now holds {found}.", hint="Read it again to ask the user.")
            seen = (file_version(path, content),)
            if mime_type := image_type(content):
                parts = (to_image(content, mime_type, shown),)
                told = f"[{shown}: a picture, {mime_type}, {len(content):,} bytes]"
                return Result(told, locations=places, parts=parts, seen=seen)
            file = decode(content, shown)
            if path.endswith(ENDING) and not span and (cells := show_notebook(file.text)):
                return Result(cells.text, locations=places, parts=cells.pictures, seen=seen)
            return Result(show_lines(file, shown, first, limit), locations=places, seen=seen)

        return Proposal(f"Read {shown}{span}", self.kind, read, (Reads(path, secret),), places)


async def _read_large(workspace: Workspace, path: str, shown: str, first: int, limit: int) -> Result | None:
    """Read lines of a large file in pieces; return None if an image or unsaved changes require all of it."""
    head = await workspace.read_range(path, 0, HEAD_BYTES)
    if head is not None and image_type(head.content):
        refuse_large_image(head.size_bytes, shown)
        return None
    part = await read_part(workspace, path, shown, first, limit)
    is_plain = part.version is not None and part.encoding == "utf-8"
    if is_plain and await workspace.differs_from_disk(path, first, part.lines):
        return None
    return Result(part.text, seen=() if part.version is None else (part.version,))


TOOL = ReadFile()
