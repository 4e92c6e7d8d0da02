"""The `web_search` tool: search the web."""

from collections.abc import Sequence
from typing import Annotated, Final

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import InternalError
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.web_ports import Scanner, SearchEngine, WebSearchHit
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Reaches, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.untrusted_text import fence, plain
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.tool_schemas import schema_of

MAX_HITS: Final = 20
SNIPPET_CHARACTERS: Final = 500


class Arguments(BaseModel):
    """What to search for, and how many results to return."""

    model_config = ConfigDict(extra="forbid")

    query: Annotated[str, Field(min_length=1, max_length=400)]
    """The words to search for."""
    limit: Annotated[int, Field(ge=1, le=MAX_HITS)] = 8
    """The number of results."""


class _NoSearchEngine:
    """A placeholder until the tool is bound."""

    name: str = "nothing"
    host: str = "nowhere.invalid"

    async def search(self, query: str, most: int) -> Sequence[WebSearchHit]:
        raise InternalError("web_search was offered without an engine.")

    def clean(self, text: str) -> str:
        raise InternalError("web_search was offered without a scanner.")


class WebSearch:
    """Search the web."""

    name = "web_search"
    kind: ToolKind = "fetch"
    tool_metadata = ToolMetadata(capabilities=frozenset({"network"}), is_repeatable=True)
    arguments: type[BaseModel] = Arguments

    def __init__(self, search_engine: SearchEngine, scanner: Scanner) -> None:
        self._engine = search_engine
        self._scanner = scanner

    def bind(self, search_engine: SearchEngine | None, scanner: Scanner) -> "WebSearch | None":
        """Return the tool bound to a search service, or None if the user chose none."""
        return WebSearch(search_engine, scanner) if search_engine else None

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Search the web; returns titles, URLs and excerpts.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call that sends the query to the service's host."""
        del workspace
        engine = self._engine

        async def search(progress: Progress) -> Result:
            del progress
            hits = await engine.search(arguments.query, arguments.limit)
            if not hits:
                return Result(f"{engine.name} found nothing.")
            text = await run_sync(self._scanner.clean, "\n\n".join(map(_told, hits)))
            return Result(fence(text, f"Hits of {engine.name}"))

        title = f"Search the web for {escape_invisible(arguments.query)}"
        return Proposal(title, self.kind, search, (Reaches(engine.host, f"https://{engine.host}/"),))


def _told(hit: WebSearchHit) -> str:
    date = f" ({plain(hit.date, 40)})" if hit.date else ""
    snippet = f"\n{plain(hit.snippet, SNIPPET_CHARACTERS)}" if hit.snippet else ""
    return f"{plain(hit.title) or '(no title)'}{date}\n{plain(hit.url, 1000)}{snippet}"


TOOL = WebSearch(_NoSearchEngine(), _NoSearchEngine())
