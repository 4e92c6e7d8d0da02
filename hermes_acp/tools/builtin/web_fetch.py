"""The `web_fetch` tool: read a web page."""

from typing import Annotated, Final

from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.errors import InternalError
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.web_ports import Page, Scanner, WebFetcher
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Reaches, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.untrusted_text import fence, plain
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.core.word_breaks import slice_at_breaks
from hermes_acp.tools.tool_schemas import schema_of
from hermes_acp.web.web_addresses import read_address

SHOWN_CHARACTERS: Final = 40_000


class Arguments(BaseModel):
    """The URL, and the character to start at."""

    model_config = ConfigDict(extra="forbid")

    url: Annotated[str, Field(min_length=1)]
    """The address."""
    offset: Annotated[int, Field(ge=0, description="First character to show")] = 0
    """The first character to show."""


class _NoWeb:
    """A placeholder until the tool is bound."""

    def require_public(self, url: str) -> None:
        raise InternalError("web_fetch was offered without a way to the web.")

    async def fetch(self, url: str, may_redirect: object) -> Page:
        raise InternalError("web_fetch was offered without a way to the web.")

    def clean(self, text: str) -> str:
        raise InternalError("web_fetch was offered without a scanner.")


class WebFetch:
    """Read one web page as text."""

    name = "web_fetch"
    kind: ToolKind = "fetch"
    tool_metadata = ToolMetadata(capabilities=frozenset({"network"}), is_repeatable=True)
    arguments: type[BaseModel] = Arguments

    def __init__(self, web: WebFetcher, scanner: Scanner) -> None:
        self._web = web
        self._scanner = scanner

    def bind(self, web: WebFetcher, scanner: Scanner) -> "WebFetch":
        """Return the tool bound to a page fetcher."""
        return WebFetch(web, scanner)

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, "Read a web page as Markdown, or any text by its URL.", Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a call that contacts the URL's host, and other hosts only if they are already allowed.

        The user is not asked about a request that would be refused anyway. Raises BadRequest or WorkspaceError.
        """
        del workspace
        address = read_address(arguments.url)
        self._web.require_public(address.url)

        async def fetch(progress: Progress) -> Result:
            def may_redirect(host: str, url: str) -> bool:
                return progress.allows(Reaches(host, url))

            page = await self._web.fetch(address.url, may_redirect)
            if page.moved_to:
                return Result(
                    f"{address.host} redirects to {plain(page.moved_to, 2000)}, which was not followed: {page.note}. "
                    "Fetch that URL if you need it.",
                    is_error=True,
                )
            return Result(await self._shown(page, arguments.offset), is_error=page.status >= 400)

        effects = (Reaches(address.host, address.url, is_all_sent=True),)
        return Proposal(f"Fetch {escape_invisible(address.url)}", self.kind, fetch, effects)

    async def _shown(self, page: Page, offset: int) -> str:
        """Return the requested part of a page, scanned and fenced."""
        whole = len(page.text)
        begin, end = slice_at_breaks(page.text, offset, min(whole, offset + SHOWN_CHARACTERS))
        text = await run_sync(self._scanner.clean, page.text[begin:end])
        source = f"Content of {plain(page.url, 300)}"
        if page.status >= 400:
            source += f" (HTTP {page.status})"
        lines = [fence(text or "(empty)", source, 4 * SHOWN_CHARACTERS)]
        if end < whole:
            lines.append(f"[characters {offset:,} to {end:,} of {whole:,}; offset={end} shows more]")
        elif page.is_cut:
            lines.append("[the page is longer than the limit; its end is missing]")
        return "\n".join(lines)


TOOL = WebFetch(_NoWeb(), _NoWeb())
