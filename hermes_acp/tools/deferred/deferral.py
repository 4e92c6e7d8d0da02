"""Decide which tools are left out of requests until the model searches for them.

Either all tools of MCP servers are in every request, or none: which ones are must not depend on the order in which
servers connect, since any change of a request's tools invalidates the vendor's prompt cache.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.token_estimates import TOKEN_BYTES
from hermes_acp.tools.deferred.tool_names import is_server_tool

DEFAULT_SCHEMA_TOKENS: Final = 10_000
NOTHING: Final[Mapping[str, Tool]] = MappingProxyType({})


def deferred_tools(tools: Mapping[str, Tool], max_schema_tokens: int) -> Mapping[str, Tool]:
    """Return the servers' tools if their schemas are larger than allowed, otherwise nothing."""
    of_servers = {name: tool for name, tool in tools.items() if is_server_tool(name)}
    room_bytes = max_schema_tokens * TOKEN_BYTES
    for tool in of_servers.values():
        room_bytes -= len(msgspec.json.encode(tool.schema()))
        if room_bytes < 0:
            return of_servers
    return NOTHING


def search_tools(deferred: Mapping[str, Tool]) -> dict[str, Tool]:
    """Return the tools that find and call deferred tools; none if nothing is deferred."""
    if not deferred:
        return {}
    from hermes_acp.tools.deferred.call_tool import CallTool
    from hermes_acp.tools.deferred.tool_search import ToolSearch

    tools: tuple[Tool, ...] = (ToolSearch(deferred), CallTool())
    return {tool.name: tool for tool in tools}
