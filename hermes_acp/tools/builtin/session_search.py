"""The `session_search` tool: find what was said in earlier sessions.

The current session is left out: the model already has its text.
"""

from datetime import datetime
from typing import Annotated, Final

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import BadRequest, InternalError, StorageError
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.flow_labels import EARLIER_SESSIONS
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.recall_ports import Recall, RecallQuery, SearchHit, SearchResults
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Recalls, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.natural_dates import read_range
from hermes_acp.tools.tool_schemas import schema_of

MAX_RESULTS: Final = 20
DEFAULT_RESULTS: Final = 8
SEARCH_TIMEOUT_S: Final = 5.0


class Arguments(BaseModel):
    """What to search for, and in which sessions."""

    model_config = ConfigDict(extra="forbid")

    query: Annotated[
        str,
        Field(
            description='Words that all occur; "phrase", begin*, a OR b; empty with since or until: what was asked then'
        ),
    ] = ""
    """Words that must all occur; also `\"a phrase\"`, `begin*`, `a OR b`.

    Empty with `since` or `until`: what the user asked for then, newest first.
    """
    since: Annotated[
        str, Field(description="From when: 2026-03-04, 3 weeks ago, yesterday, last Tuesday, last month")
    ] = ""
    """Only what was said since then: an ISO date, `2d`, `3 weeks ago`, `yesterday`, `last Tuesday`, `last month`."""
    until: Annotated[
        str, Field(description="To the end of this day, week or month; the same as since for just that one")
    ] = ""
    """Only what was said up to the end of this day, week or month, in the same forms."""
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
        """Return a copy of this tool that uses the given search."""
        return SessionSearch(recall)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Search earlier sessions with this user.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call; searching beyond this working directory needs the user's permission."""

        async def search(progress: Progress) -> Result:
            try:  # in a thread, because the first phrase loads a library
                since, until = await run_sync(read_range, arguments.since, arguments.until)
            except BadRequest as error:
                return Result(error.sentence(), is_error=True)
            asked = RecallQuery(
                arguments.query,
                cwd=None if arguments.everywhere else workspace.cwd,
                excluded=progress.session_id,
                limit=arguments.limit,
                max_wait_s=SEARCH_TIMEOUT_S,
                by_meaning=arguments.by_meaning,
                fills_up=True,
                since=since,
                until=until,
            )
            try:
                finds = await self._recall.search(asked)
            except (
                BadRequest,
                StorageError,
            ) as error:  # only the index is affected, not the session's own record
                return Result(error.sentence(), is_error=True)
            return Result(_told(finds, arguments, asked))

        effects = (Recalls(),) if arguments.everywhere else ()
        where = "all earlier sessions" if arguments.everywhere else "earlier sessions here"
        return Proposal(f"Search {where}{_sought(arguments)}", self.kind, search, effects)


def _sought(arguments: Arguments) -> str:
    """Return a description of the search, for the title of the call."""
    named = {"for": arguments.query, "since": arguments.since, "until": arguments.until}
    return "".join(f" {word} {escape_invisible(text)}" for word, text in named.items() if text.strip())


def _told(finds: SearchResults, arguments: Arguments, asked: RecallQuery) -> str:
    pieces = [_line(find, everywhere=arguments.everywhere) for find in finds.found]
    if asked.has_dates:
        pieces.insert(0, _range(asked))
    if not finds.found:
        wider = "" if arguments.everywhere else " in this working directory; everywhere=true searches all"
        pieces.append(f"Nothing was found{wider}.")
    elif len(finds.found) == arguments.limit:
        pieces.append("[there may be more; add words, or raise limit]")
    if finds.unread_sessions:
        pieces.append(
            f"[{finds.unread_sessions:,} older sessions are not indexed yet; search again for them]"
        )
    if finds.note:
        pieces.append(f"[{finds.note}]")
    return "\n\n".join(pieces)


def _range(asked: RecallQuery) -> str:
    """Return the searched dates and today's, so that the model can see how its dates were interpreted."""
    first = "the beginning" if asked.since is None else _local(asked.since)
    last = "now" if asked.until is None else _local(asked.until)
    return f"[from {first} until {last}, local time; today is {datetime.now().strftime('%A, %Y-%m-%d')}]"


def _local(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%A, %Y-%m-%d %H:%M")


def _line(find: SearchHit, *, everywhere: bool) -> str:
    if find.at is None:
        day = datetime.fromtimestamp(find.updated_at).date().isoformat()
    else:
        day = datetime.fromtimestamp(find.at).strftime("%Y-%m-%d %H:%M")
    where = f" in {escape_invisible(find.cwd)}" if everywhere else ""
    found = find.snippet.replace("\x02", "**").replace("\x03", "**")
    head = (
        f'{find.session_id} #{find.position} ({find.speaker}, {day}{where}, "{escape_invisible(find.title)}")'
    )
    return f"{head}\n{found}"


TOOL = SessionSearch(_NoRecall())
