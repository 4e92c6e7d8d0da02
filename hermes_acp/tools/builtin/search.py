"""The tool that searches files by regular expression.

Knows: how matches are shown and how many. Does not know: what does the searching.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.exchanges import Match, SearchQuery
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Reads, Result
from hermes_acp.core.terms import Location, ToolKind
from hermes_acp.core.traits import Traits
from hermes_acp.core.word_breaks import within_breaks
from hermes_acp.policy.names import SECRET_FILES, SECRET_FOLDERS
from hermes_acp.tools.open_paths import left_out, open_among
from hermes_acp.tools.schemas import schema_of
from hermes_acp.tools.secret_files import secret_at, without_keys
from hermes_acp.tools.titles import shown_path, visible

MOST_MATCHES = 200
MOST_FILES = 2000
MOST_CONTEXT = 50
LONGEST_OUTPUT_BYTES = 64 * 1024
LONGEST_LINE = 500


class Arguments(BaseModel):
    """What to look for, where, and what to tell of it."""

    model_config = ConfigDict(extra="forbid")

    pattern: Annotated[str, Field(min_length=1, description="Regular expression (Rust syntax)")]
    path: Annotated[str | None, Field(description="File or folder, default the working directory")] = None
    glob: Annotated[str | None, Field(description="Such as *.{ts,tsx} or src/**/*.py")] = None
    type: Annotated[str | None, Field(description="ripgrep's file type, such as py")] = None
    literal: bool = False
    ignore_case: bool = False
    multiline: bool = False
    context: Annotated[int, Field(ge=0, le=MOST_CONTEXT, description="Lines around each match")] = 0
    show: Literal["lines", "files", "counts"] = "lines"

    def query(self, path: str) -> SearchQuery:
        """Give what is searched, one find beyond what is shown."""
        most = MOST_MATCHES if self.show == "lines" else MOST_FILES
        return SearchQuery(
            self.pattern,
            path,
            self.glob,
            leaves_out=(*SECRET_FILES, *sorted(SECRET_FOLDERS)),
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
    """Finds lines that match a regular expression, or the files they are in."""

    name = "search"
    kind: ToolKind = "search"
    traits = Traits(capabilities=frozenset({"files"}), is_cheap=True, is_repeatable=True, quotes="output")
    arguments: type[BaseModel] = Arguments

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(
            self.name,
            "Search file contents; ignored files and those that hold secrets are skipped.",
            Arguments,
        )

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Understand a call; the search starts only when performed."""
        path = workspace.locate(arguments.path or ".")
        query = arguments.query(path)
        secret = await secret_at(workspace, path, arguments.path or "")
        places = "" if path == workspace.cwd else f" in {shown_path(path, workspace)}"
        kinds = ", ".join(visible(each) for each in (arguments.glob, arguments.type) if each)

        async def search(progress: Progress) -> Result:
            found = await workspace.search(query)
            paths = {match.path for match in found}
            shown = await open_among(paths, path, progress)
            if query.shape == "lines":
                shown = await without_keys(workspace, shown, path, progress)
            matches = [match for match in found if match.path in shown]
            rest = left_out(len(paths) - len(shown))
            if not matches:
                told = f"No line matches {visible(query.pattern)}. Ignored, binary and secret files are not searched."
                return Result(told + rest)
            show = show_matches if query.shape == "lines" else show_files
            return Result(show(matches, workspace) + rest)

        title = f"Search for {visible(arguments.pattern)}{places}{f' ({kinds})' if kinds else ''}"
        return Proposal(title, self.kind, search, (Reads(path, secret),), (Location(path),))


def show_matches(matches: Sequence[Match], workspace: Workspace) -> str:
    """Give `path:line: text` a match, `path-line- text` a line around it, within all bounds; gaps are empty lines."""
    lines: list[str] = []
    size_bytes = shown = 0
    before: Match | None = None
    has_context = any(match.is_context for match in matches)
    total = sum(not match.is_context for match in matches)
    for match in matches:
        _, end = within_breaks(match.text, 0, LONGEST_LINE)
        cut = " […]" if len(match.text) > LONGEST_LINE else ""
        sign = "-" if match.is_context else ":"
        line = f"{shown_path(match.path, workspace)}{sign}{match.line}{sign} {match.text[:end]}{cut}"
        size_bytes += len(line.encode()) + 2
        shown += not match.is_context
        if size_bytes > LONGEST_OUTPUT_BYTES or shown > MOST_MATCHES:
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


def show_files(matches: Sequence[Match], workspace: Workspace) -> str:
    """Give a path a line, with the count of its lines where they were counted."""
    lines: list[str] = []
    size_bytes = 0
    for match in matches[:MOST_FILES]:
        count = f": {match.count}" if match.count else ""
        line = f"{shown_path(match.path, workspace)}{count}"
        size_bytes += len(line.encode()) + 1
        if size_bytes > LONGEST_OUTPUT_BYTES:
            break
        lines.append(line)
    if len(lines) < len(matches):
        lines.append(
            f"[only the first {len(lines)} files are shown; narrow the search by path, glob or pattern]"
        )
    return "\n".join(lines)


def _has_gap(before: Match, match: Match) -> bool:
    return match.line > before.line + 1 + before.text.count("\n")


TOOL = Search()
