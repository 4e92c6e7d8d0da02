"""session/close: stop what runs in a session and close it."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v1


async def close_session(client: ClientConnection, params: v1.CloseSessionRequest) -> v1.CloseSessionResponse:
    """Stop and close. Raise SessionNotFound."""
    client.session(params.session_id)
    await client.app.sessions.close(params.session_id)
    return v1.CloseSessionResponse()


METHOD = Method(v1.CloseSessionRequest, close_session)
