"""logout: use no model until the user authenticates again; nothing on disk is touched."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.v1.auth_status import notify_auth_status
from hermes_protocol import v1


async def logout(client: ClientConnection, params: v1.LogoutRequest) -> v1.LogoutResponse:
    """Sign out."""
    client.app.configuration.sign_out()
    await notify_auth_status(client)
    return v1.LogoutResponse()


METHOD = Method(v1.LogoutRequest, logout)
