"""Convert the MCP servers that an editor configures."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.frontends.acp.session_setup.mcp_server_specs import (
    address,
    carried_spec,
    headers,
    stdio_spec,
    unusable,
)
from hermes_acp.mcp.server_definitions import HttpServer, ServerSpec
from hermes_protocol import v2


def specs_of(client: ClientConnection, servers: list[v2.McpServer] | v2.UnsetType) -> tuple[ServerSpec, ...]:
    """Check and convert the servers of a session. Raises BadRequest, which never quotes a value."""
    return tuple(_spec_of(client, server) for server in servers or ())


def _spec_of(client: ClientConnection, server: v2.McpServer) -> ServerSpec:
    match server:
        case v2.McpServerStdio():
            env = tuple((variable.name, variable.value) for variable in server.env or ())
            return stdio_spec(server.name, server.command, server.args or (), env)
        case v2.McpServerHttp():
            pairs = tuple((header.name, header.value) for header in server.headers or ())
            return HttpServer(server.name, address(server.name, server.url), headers(server.name, pairs))
        case v2.McpServerAcp():
            return carried_spec(client, server.name, server.server_id)
        case v2.McpServerOther():
            raise unusable(server.type, errors.UNKNOWN_MCP_TYPE)
