"""Offer a server's tool as a tool of the session.

What a server says about its tools is a hint, not a guarantee: the policy considers it and makes its own decision.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from anyio.to_thread import run_sync
from msgspec import Struct, structs

from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Calls, Progress, Proposal, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.untrusted_text import plain
from hermes_acp.mcp.elicitation import McpServer, RequestFailed
from hermes_acp.mcp.tool_results import to_result

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult, RequestParamsMeta


class ListedTool(Struct, frozen=True):
    """A tool as its server lists it; `parameters` is a JSON Schema.

    `digest` covers everything that the server says about the tool, including what is hidden from the model.
    """

    name: str
    description: str
    parameters: dict[str, object]
    is_read_only: bool
    digest: str = ""


class ServerTool:
    """A tool of an MCP server."""

    kind: ToolKind = "other"
    tool_metadata = ToolMetadata(capabilities=frozenset({"network"}))

    def __init__(self, name: str, listed: ListedTool, server: McpServer) -> None:
        self.name = name
        self.arguments = listed.parameters
        self._listed = listed
        self._server = server

    def schema(self) -> ToolSchema:
        """Describe the tool to a model in its server's words."""
        return ToolSchema(self.name, self._listed.description, self._listed.parameters)

    async def propose(self, arguments: Mapping[str, Any], workspace: Workspace) -> Proposal:
        """Propose a call; only the server knows what the tool affects."""
        listed, server = self._listed, self._server

        async def call(progress: Progress) -> Result:
            return await _call(server, listed.name, arguments, progress)

        title = f"{plain(listed.name, 80)} ({plain(server.name, 40)})"
        state = f"{server.identity} {listed.digest}"
        return Proposal(
            title, self.kind, call, (Calls(server.name, listed.name, listed.is_read_only, state),)
        )


async def _call(server: McpServer, tool: str, arguments: Mapping[str, Any], output: Progress) -> Result:
    """Call a tool and return its answer, even if the tool failed; progress reports become the call's live output."""

    async def report(progress: float, total: float | None, message: str | None) -> None:
        share = f"{progress:g}" if total is None else f"{progress:g} of {total:g}"
        output.output(server.redact_tokens(f"{share}{': ' + message if message else ''}\n"))

    async def put(client: "Client") -> "CallToolResult":
        meta: RequestParamsMeta = {"traceparent": output.trace_parent} if output.trace_parent else {}
        return await client.call_tool(tool, dict(arguments), progress_callback=report, meta=meta or None)

    try:
        answer = await server.ask(tool, put, output)
        result = await run_sync(to_result, answer, server.name, server.clean)
        return structs.replace(result, text=server.redact_tokens(result.text))
    except RequestFailed as silence:
        return Result(silence.words, is_error=True)
