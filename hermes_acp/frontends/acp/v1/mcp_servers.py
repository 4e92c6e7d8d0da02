"""Convert the MCP servers that an editor configures."""

from typing import TYPE_CHECKING

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.session_setup.mcp_server_specs import address, carried_spec, headers, stdio_spec
from hermes_acp.mcp.server_definitions import HttpServer, ServerSpec, SseServer
from hermes_protocol import v1

if TYPE_CHECKING:
    from msgspec import UnsetType


def specs_of(client: ClientConnection, servers: "list[v1.McpServer] | UnsetType") -> tuple[ServerSpec, ...]:
    """Check and convert the servers of a session. Raises BadRequest, which never quotes a value."""
    return tuple(_spec_of(client, server) for server in servers or ())


def _spec_of(client: ClientConnection, server: v1.McpServer) -> ServerSpec:
    name = server.name
    match server:
        case v1.McpServerStdio():
            env = tuple((variable.name, variable.value) for variable in server.env)
            return stdio_spec(name, server.command, server.args, env)
        case v1.McpServerHttp():
            return HttpServer(name, address(name, server.url), _headers(server))
        case v1.McpServerSse():
            return SseServer(name, address(name, server.url), _headers(server))
        case v1.McpServerAcp():
            return carried_spec(client, name, server.server_id)


def _headers(server: v1.McpServerHttp | v1.McpServerSse) -> tuple[tuple[str, str], ...]:
    return headers(server.name, tuple((header.name, header.value) for header in server.headers))
