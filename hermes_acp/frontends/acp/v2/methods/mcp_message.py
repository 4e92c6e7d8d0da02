"""mcp/message: a notification, during a request, from an MCP server that the client provides."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v2


def hear(client: ClientConnection, params: v2.MessageMcpNotification) -> None:
    """Pass the notification on to its request, before the next message is read."""
    client.mcp_tunnel.hear(params.server_id, params.request_id, params.method, params.params or None)


METHOD = Method(v2.MessageMcpNotification, hear, is_notification=True, is_unstable=True)
