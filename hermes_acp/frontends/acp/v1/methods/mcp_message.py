"""mcp/message: what a server that the client carries tells while a request of ours stands."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v1


def hear(client: ClientConnection, params: v1.MessageMcpNotification) -> None:
    """Hand it to whoever asked, in the order of reading."""
    client.mcp_tunnel.hear(params.server_id, params.request_id, params.method, params.params or None)


METHOD = Method(v1.MessageMcpNotification, hear, is_notification=True, is_unstable=True)
