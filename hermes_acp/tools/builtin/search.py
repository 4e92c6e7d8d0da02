"""The `search` tool: search files by regular expression."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.event_types import Location, ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import SearchMatch, SearchQuery, Workspace
from hermes_acp.core.proposals import Progress, Proposal, Reads, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.core.word_breaks import slice_at_breaks
from hermes_acp.policy.sensitive_names import SECRET_FILES, SECRET_FOLDERS
from hermes_acp.tools.allowed_paths import allowed_among, omission_note
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.secret_checks import secret_in_file, without_secret_files
from hermes_acp.tools.tool_schemas import schema_of

MAX_MATCHES = 200
MAX_FILES = 2000
MAX_CONTEXT = 50
MAX_OUTPUT_BYTES = 64 * 1024
MAX_LINE_CHARS = 500


class Arguments(BaseModel):
    """What to search for, where, and what to return."""

    model_config = ConfigDict(extra="forbid")

    pattern: Annotated[str, Field(min_length=1, description="Regular expression (Rust syntax)")]
    """A regular expression in Rust's syntax."""
    path: Annotated[str | None, Field(description="File or folder, default the working directory")] = None
    """A file or folder. Default: the working directory."""
    glob: Annotated[str | None, Field(description="Such as *.{ts,tsx} or src/**/*.py")] = None
    """Only files whose names match, such as `*.{ts,tsx}` or `src/**/*.py`."""
    type: Annotated[str | None, Field(description="ripgrep's file type, such as py")] = None
    """Only files of a ripgrep file type, such as `py`."""
    literal: bool = False
    """Treat the pattern as plain text."""
    ignore_case: bool = False
    """Ignore case."""
    multiline: bool = False
    """Let the pattern match across lines."""
    context: Annotated[int, Field(ge=0, le=MAX_CONTEXT, description="Lines around each match")] = 0
    """Lines to show around each match."""
    show: Literal["lines", "files", "counts"] = "lines"
    """Show matching lines, files, or counts per file."""

    def query(self, path: str) -> SearchQuery:
        """Return the query, with a limit of one more match than is shown."""
        most = MAX_MATCHES if self.show == "lines" else MAX_FILES
        return SearchQuery(
            self.pattern,
            path,
            self.glob,
            excluded=(*SECRET_FILES, *sorted(SECRET_FOLDERS)),
            limit=most + 1,
            is_literal=self.literal,
            ignores_case=self.ignore_case,
            is_multiline=self.multiline,
            kind=self.type or "",
            before=self.context,
            after=self.context,
            shape=self.show,
        )


class Search:
    """Search lines by regular expression, or list and count the files that match."""

    name = "search"
    kind: ToolKind = "search"
    tool_metadata = ToolMetadata(
        capabilities=frozenset({"files"}), is_cheap=True, is_repeatable=True, quotes="output"
    )
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(
            self.name,
            "Search file contents; ignored files and those that hold secrets are skipped.",
            Arguments,
        )

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call; the search starts only when the call is performed."""
        path = workspace.locate(arguments.path or ".")
        query = arguments.query(path)
        secret = await secret_in_file(workspace, path, arguments.path or "")
        places = "" if path == workspace.cwd else f" in {shown_path(path, workspace)}"
        kinds = ", ".join(escape_invisible(each) for each in (arguments.glob, arguments.type) if each)

        async def search(progress: Progress) -> Result:
            found = await workspace.search(query)
            paths = {match.path for match in found}
            shown = await allowed_among(paths, path, progress)
            if query.shape == "lines":
                shown = await without_secret_files(workspace, shown, path, progress)
            matches = [match for match in found if match.path in shown]
            rest = omission_note(len(paths) - len(shown))
            if not matches:
                pattern = escape_invisible(query.pattern)
                told = f"No line matches {pattern}. Ignored, binary and secret files are not searched."
                return Result(told + rest)
            show = show_matches if query.shape == "lines" else show_files
            return Result(show(matches, workspace) + rest)

        title = f"Search for {escape_invisible(arguments.pattern)}{places}{f' ({kinds})' if kinds else ''}"
        return Proposal(title, self.kind, search, (Reads(path, secret),), (Location(path),))


def show_matches(matches: Sequence[SearchMatch], workspace: Workspace) -> str:
    """Return `path:line: text` for each match and `path-line- text` for its context lines, within all limits.

    Blank lines mark gaps.
    """
    lines: list[str] = []
    size_bytes = shown = 0
    before: SearchMatch | None = None
    has_context = any(match.is_context for match in matches)
    total = sum(not match.is_context for match in matches)
    for match in matches:
        _, end = slice_at_breaks(match.text, 0, MAX_LINE_CHARS)
        cut = " […]" if len(match.text) > MAX_LINE_CHARS else ""
        sign = "-" if match.is_context else ":"
        line = f"{shown_path(match.path, workspace)}{sign}{match.line}{sign} {match.text[:end]}{cut}"
        size_bytes += len(line.encode()) + 2
        shown += not match.is_context
        if size_bytes > MAX_OUTPUT_BYTES or shown > MAX_MATCHES:
            shown -= not match.is_context
            break
        if before and (before.path != match.path or (has_context and _has_gap(before, match))):
            lines.append("")
        lines.append(line)
        before = match
    if shown < total:
        lines.append(
            f"[only the first {shown} matches are shown; narrow the search by path, glob or pattern]"
        )
    return "\n".join(lines)


def show_files(matches: Sequence[SearchMatch], workspace: Workspace) -> str:
    """Return one path per line, with the number of matching lines if they were counted."""
    lines: list[str] = []
    size_bytes = 0
    for match in matches[:MAX_FILES]:
        count = f": {match.count}" if match.count else ""
        line = f"{shown_path(match.path, workspace)}{count}"
        size_bytes += len(line.encode()) + 1
        if size_bytes > MAX_OUTPUT_BYTES:
            break
        lines.append(line)
    if len(lines) < len(matches):
        lines.append(
            f"[only the first {len(lines)} files are shown; narrow the search by path, glob or pattern]"
        )
    return "\n".join(lines)


def _has_gap(before: SearchMatch, match: SearchMatch) -> bool:
    return match.line > before.line + 1 + before.text.count("\n")


TOOL = Search()
