"""The `tool_search` tool: find deferred tools and read their schemas."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Final

import msgspec
from anyio.to_thread import run_sync
from pydantic import BaseModel, ConfigDict, Field

from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.found_tools import TOOL_SEARCH, found_tools_text
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.deferred.tool_names import full_name, server_and_tool
from hermes_acp.tools.deferred.tool_ranking import RankedTool, rank_tools
from hermes_acp.tools.tool_schemas import schema_of

MAX_RESULTS: Final = 8
MAX_LIMIT: Final = 20
MAX_RESULT_BYTES: Final = 48 * 1024
MAX_FURTHER_NAMES: Final = 15
ABOUT: Final = (
    "Find tools of MCP servers that are not among your tools. Returns each one's name, description and parameters. "
    "Then call it with call_tool."
)
NOTHING_FOUND: Final = (
    "No tool fits. Try other words, or the name of a server. These servers have tools: {servers}."
)


class Arguments(BaseModel):
    """What the tool should do."""

    model_config = ConfigDict(extra="forbid")

    query: Annotated[
        str, Field(min_length=1, description="What the tool should do, in a few words; or names of tools")
    ]
    """What the tool should do, or the names of tools, separated by commas."""
    limit: Annotated[int, Field(ge=1, le=MAX_LIMIT)] = MAX_RESULTS
    """The number of results."""


class ToolSearch:
    """Search the tools of one turn."""

    name = TOOL_SEARCH
    kind: ToolKind = "search"
    tool_metadata = ToolMetadata(is_cheap=True, is_repeatable=True)
    arguments: type[BaseModel] = Arguments

    def __init__(self, deferred: Mapping[str, Tool]) -> None:
        self._names = tuple(deferred)
        self._tools = deferred

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        return schema_of(self.name, ABOUT, Arguments)

    async def propose(self, arguments: Arguments, workspace: Workspace) -> Proposal:
        """Propose a search, which has no effects, because it only reads what the servers have already listed."""
        del workspace

        async def search(progress: Progress) -> Result:
            del progress
            return Result(await run_sync(self._found, arguments.query, arguments.limit))

        return Proposal(f"Search tools for {escape_invisible(arguments.query)}", self.kind, search)

    def _found(self, query: str, limit: int) -> str:
        named = self._named(query)
        ranked = rank_tools(self._ranked(), query, MAX_LIMIT + MAX_FURTHER_NAMES)
        names = list(dict.fromkeys((*named, *(self._names[number] for number in ranked))))
        count = max(limit, len(named))
        return self._described(names[:count], names[count : count + MAX_FURTHER_NAMES])

    def _named(self, query: str) -> list[str]:
        """Return the tools that a query names."""
        words = (word.strip("\"'`()[]") for word in query.replace(",", " ").split()[:MAX_LIMIT])
        found = (word if word in self._tools else full_name(word, self._names) for word in words if word)
        return [name for name in found if name]

    def _ranked(self) -> list[RankedTool]:
        return [
            RankedTool(tool, server, self._tools[name].schema())
            for name in self._names
            for server, tool in (server_and_tool(name),)
        ]

    def _described(self, names: Sequence[str], further: Sequence[str]) -> str:
        if not names:
            servers = dict.fromkeys(server_and_tool(name)[0] for name in self._names)
            return NOTHING_FOUND.format(servers=", ".join(servers))
        shown: list[ToolSchema] = []
        room_bytes = MAX_RESULT_BYTES
        for name in names:
            schema = self._tools[name].schema()
            room_bytes -= len(msgspec.json.encode(schema))
            if room_bytes < 0 and shown:
                break
            shown.append(schema)
        left = [*names[len(shown) :], *further]
        return found_tools_text(shown, left[:MAX_FURTHER_NAMES])
