"""The MCP servers an editor names, as the house knows them.

Knows: what makes a named server usable. Does not know: connections; it is read before there is an event loop.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hermes_acp.core.errors import BadRequest
from hermes_acp.mcp.specs import HttpServer, ServerSpec, SseServer, StdioServer
from hermes_protocol import v1

if TYPE_CHECKING:
    from msgspec import UnsetType


def specs_of(servers: "list[v1.McpServer] | UnsetType") -> tuple[ServerSpec, ...]:
    """Check and convert the servers of a session. Raises BadRequest, which never quotes a value."""
    return tuple(_spec_of(server) for server in servers or ())


def _spec_of(server: v1.McpServer) -> ServerSpec:
    match server:
        case v1.McpServerStdio():
            env = tuple((variable.name, variable.value) for variable in server.env)
            if not server.command or "\0" in "".join((server.command, *server.args, *map("".join, env))):
                raise _unusable(server.name, "its command, arguments or variables are empty or hold a NUL")
            if any(not name or "=" in name for name, _ in env):
                raise _unusable(server.name, "a variable of its environment has no usable name")
            return StdioServer(server.name, server.command, tuple(server.args), env)
        case v1.McpServerHttp():
            return HttpServer(server.name, _address(server), _headers(server.name, server.headers))
        case v1.McpServerSse():
            return SseServer(server.name, _address(server), _headers(server.name, server.headers))
        case v1.McpServerAcp():
            raise _unusable(server.name, "servers over ACP itself are not offered here")


def _address(server: v1.McpServerHttp | v1.McpServerSse) -> str:
    if not server.url.lower().startswith(("http://", "https://")) or not server.url.isprintable():
        raise _unusable(server.name, "its url does not begin with http:// or https://")
    return server.url


def _headers(name: str, headers: Iterable[v1.HttpHeader]) -> tuple[tuple[str, str], ...]:
    pairs = tuple((header.name, header.value) for header in headers)
    if not all(key and f"{key}{value}".isascii() and f"{key}{value}".isprintable() for key, value in pairs):
        raise _unusable(name, "a header holds characters that no HTTP header may hold")
    return pairs


def _unusable(name: str, why: str) -> BadRequest:
    return BadRequest(f"The MCP server {name[:80]!r} cannot be used: {why}.", hint="Change it in the editor.")
