"""List and read the resources of a server."""

from typing import TYPE_CHECKING, Any, Final

from anyio.to_thread import run_sync

from hermes_acp.core.proposals import Progress, Result
from hermes_acp.core.untrusted_text import plain
from hermes_acp.mcp.elicitation import McpServer, RequestFailed
from hermes_acp.mcp.tool_results import fence, render_resource

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import ReadResourceResult

MAX_PAGES: Final = 20
MAX_LISTED: Final = 500


class ServerLibrary:
    """The resources of an MCP server."""

    def __init__(self, server: McpServer) -> None:
        self._server = server

    @property
    def name(self) -> str:
        """The server's name, as the user knows it."""
        return self._server.name

    async def contents(self, progress: Progress) -> Result:
        """List the resources, including URI templates."""
        try:
            lines = await self._server.ask("the list of resources", _list, progress)
        except RequestFailed as silence:
            return Result(silence.words, is_error=True)
        return Result(await self._fenced("\n".join(lines) or "(no resources)"))

    async def read(self, uri: str, progress: Progress) -> Result:
        """Read a resource: text is returned as it is, anything else as its kind and size."""

        async def put(client: "Client") -> "ReadResourceResult":
            return await client.read_resource(uri)

        try:
            answer = await self._server.ask(f"the resource {plain(uri)}", put, progress)
        except RequestFailed as silence:
            return Result(silence.words, is_error=True)
        pieces = [render_resource(content) for content in answer.contents]
        return Result(await self._fenced("\n".join(pieces) or "(empty)"))

    async def _fenced(self, text: str) -> str:
        return await run_sync(fence, self._server.redact_tokens(text), self.name, self._server.clean)


async def _list(client: "Client") -> list[str]:
    from mcp import MCPError
    from mcp.types import METHOD_NOT_FOUND

    found: list[str] = []
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_resources(cursor=cursor)
        found += [_line(each.uri, each) for each in page.resources]
        cursor = page.next_cursor
        if cursor is None or len(found) > MAX_LISTED:
            break
    try:
        templates = (await client.list_resource_templates()).resource_templates
    except MCPError as error:
        if error.code != METHOD_NOT_FOUND:
            raise
        templates = []
    found += [_line(f"{each.uri_template} (template)", each) for each in templates]
    left_out = len(found) - MAX_LISTED
    return [*found[:MAX_LISTED], *([f"(and {left_out} more)"] if left_out > 0 else [])]


def _line(address: str, listed: Any) -> str:
    about = [listed.title or listed.name, listed.mime_type or "", listed.description or ""]
    return f"{plain(address, 400)}: {'; '.join(plain(each, 300) for each in about if each)}"
