"""The `session_search` tool: find what was said in earlier sessions.

The current session is left out: the model already has its text.
"""

from datetime import UTC, datetime
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import InternalError, StorageError
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.flow_labels import EARLIER_SESSIONS
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.recall_ports import Recall, RecallQuery, SearchHit, SearchResults
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Recalls, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.tools.safe_display import escape_invisible
from hermes_acp.tools.tool_schemas import schema_of

MAX_RESULTS: Final = 20
DEFAULT_RESULTS: Final = 8
SEARCH_TIMEOUT_S: Final = 5.0


class Arguments(BaseModel):
    """What to look for, and how widely."""

    model_config = ConfigDict(extra="forbid")

    query: Annotated[str, Field(min_length=1, description='Words that all occur; "phrase", begin*, a OR b')]
    """Words that must all occur; also `\"a phrase\"`, `begin*`, `a OR b`."""
    everywhere: Annotated[bool, Field(description="Search all working directories")] = False
    """Search the sessions of other folders too."""
    by_meaning: Annotated[
        bool, Field(description="Also find text with a similar meaning; write the query as a sentence")
    ] = False
    """Also find texts with a similar meaning. The query should then be a sentence."""
    limit: Annotated[int, Field(ge=1, le=MAX_RESULTS)] = DEFAULT_RESULTS
    """The number of results."""


class _NoRecall:
    """A placeholder until the tool is bound."""

    async def search(self, asked: RecallQuery) -> SearchResults:
        raise InternalError("session_search was offered without the sessions it searches.")


class SessionSearch:
    """Search earlier sessions."""

    name = "session_search"
    kind: ToolKind = "search"
    tool_metadata = ToolMetadata(
        capabilities=frozenset({"memory"}), is_cheap=True, is_repeatable=True, brings=(EARLIER_SESSIONS,)
    )
    arguments: type[BaseModel] = Arguments

    def __init__(self, recall: Recall) -> None:
        self._recall = recall

    def bind(self, recall: Recall) -> "SessionSearch":
        """Return the tool bound to a search."""
        return SessionSearch(recall)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Search earlier sessions with this user.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call; searching beyond this working directory needs the user's permission."""

        async def search(progress: Progress) -> Result:
            asked = RecallQuery(
                arguments.query,
                cwd=None if arguments.everywhere else workspace.cwd,
                excluded=progress.session_id,
                limit=arguments.limit,
                max_wait_s=SEARCH_TIMEOUT_S,
                by_meaning=arguments.by_meaning,
            )
            try:
                finds = await self._recall.search(asked)
            except StorageError as error:  # only the index failed: the session's own record is unaffected
                return Result(error.sentence(), is_error=True)
            return Result(_told(finds, arguments))

        effects = (Recalls(),) if arguments.everywhere else ()
        where = "all earlier sessions" if arguments.everywhere else "earlier sessions here"
        return Proposal(f"Search {where} for {escape_invisible(arguments.query)}", self.kind, search, effects)


def _told(finds: SearchResults, arguments: Arguments) -> str:
    pieces = [_line(find, everywhere=arguments.everywhere) for find in finds.found]
    if not pieces:
        wider = "" if arguments.everywhere else " in this working directory; everywhere=true searches all"
        pieces.append(f"Nothing was found{wider}.")
    elif len(pieces) == arguments.limit:
        pieces.append("[there may be more; add words, or raise limit]")
    if finds.unread_sessions:
        pieces.append(
            f"[{finds.unread_sessions:,} older sessions are not indexed yet; search again for them]"
        )
    if finds.note:
        pieces.append(f"[{finds.note}]")
    return "\n\n".join(pieces)


def _line(find: SearchHit, *, everywhere: bool) -> str:
    day = datetime.fromtimestamp(find.updated_at, UTC).date().isoformat()
    where = f" in {escape_invisible(find.cwd)}" if everywhere else ""
    found = find.snippet.replace("\x02", "**").replace("\x03", "**")
    head = (
        f'{find.session_id} #{find.position} ({find.speaker}, {day}{where}, "{escape_invisible(find.title)}")'
    )
    return f"{head}\n{found}"


TOOL = SessionSearch(_NoRecall())
