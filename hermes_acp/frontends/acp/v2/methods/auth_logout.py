"""auth/logout: use no model until the user logs in again; nothing on disk is touched."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v2


async def log_out(client: ClientConnection, params: v2.LogoutAuthRequest) -> v2.LogoutAuthResponse:
    """Sign out."""
    client.app.configuration.sign_out()
    return v2.LogoutAuthResponse()


METHOD = Method(v2.LogoutAuthRequest, log_out)
