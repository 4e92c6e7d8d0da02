"""The tool that searches files by regular expression.

Knows: how matches are shown and how many. Does not know: what does the searching.
"""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.exchanges import Match, SearchQuery
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Reads, Result
from hermes_acp.core.terms import Location, ToolKind
from hermes_acp.policy.rules import SECRET_FILES
from hermes_acp.tools.schemas import schema_of
from hermes_acp.tools.titles import shown_path, visible

MOST_MATCHES = 200
LONGEST_OUTPUT_BYTES = 64 * 1024
LONGEST_LINE = 500


class Arguments(BaseModel):
    """What to look for, and where."""

    model_config = ConfigDict(extra="forbid")

    pattern: Annotated[str, Field(min_length=1, description="Regular expression (Rust syntax)")]
    path: Annotated[str | None, Field(description="File or folder, default the working directory")] = None
    glob: Annotated[str | None, Field(description="Such as *.{ts,tsx} or src/**/*.py")] = None


class Search:
    """Finds lines that match a regular expression."""

    name = "search"
    kind: ToolKind = "search"
    is_cheap: bool = True
    is_repeatable: bool = True
    most_per_step: int | None = None
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
        query = SearchQuery(
            arguments.pattern, path, arguments.glob, leaves_out=SECRET_FILES, limit=MOST_MATCHES + 1
        )
        places = "" if path == workspace.cwd else f" in {shown_path(path, workspace)}"
        kinds = f" ({visible(arguments.glob)})" if arguments.glob else ""

        async def search(progress: Progress) -> Result:
            del progress
            return Result(show_matches(await workspace.search(query), query, workspace))

        title = f"Search for {visible(arguments.pattern)}{places}{kinds}"
        return Proposal(title, self.kind, search, (Reads(path),), (Location(path),))


def show_matches(matches: Sequence[Match], query: SearchQuery, workspace: Workspace) -> str:
    """Give `path:line: text` a match, files apart, within MOST_MATCHES and LONGEST_OUTPUT_BYTES."""
    if not matches:
        return f"No line matches {visible(query.pattern)}. Ignored, binary and secret files are not searched."
    lines: list[str] = []
    size_bytes = 0
    shown = 0
    for number, match in enumerate(matches[:MOST_MATCHES]):
        cut = " […]" if len(match.text) > LONGEST_LINE else ""
        line = f"{shown_path(match.path, workspace)}:{match.line}: {match.text[:LONGEST_LINE]}{cut}"
        size_bytes += len(line.encode()) + 2
        if size_bytes > LONGEST_OUTPUT_BYTES:
            break
        if number and matches[number - 1].path != match.path:
            lines.append("")
        lines.append(line)
        shown += 1
    if shown < len(matches):
        lines.append(
            f"[only the first {shown} matches are shown; narrow the search by path, glob or pattern]"
        )
    return "\n".join(lines)


TOOL = Search()
