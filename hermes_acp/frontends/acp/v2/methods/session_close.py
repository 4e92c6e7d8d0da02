"""session/close: stop what runs in a session and close it."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v2


async def close_session(client: ClientConnection, params: v2.CloseSessionRequest) -> v2.CloseSessionResponse:
    """Stop and close; do nothing if it is not open."""
    await client.app.sessions.close(params.session_id)
    return v2.CloseSessionResponse()


METHOD = Method(v2.CloseSessionRequest, close_session)
