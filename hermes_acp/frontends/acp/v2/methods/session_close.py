"""session/close: stop what runs in a session and close it."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v2


async def close_session(client: ClientConnection, params: v2.CloseSessionRequest) -> v2.CloseSessionResponse:
    """Stop and close, or only leave if other clients are attached; do nothing if it is not open."""
    session = client.app.sessions.get(params.session_id)
    if session and len(session.clients) > 1:
        await client.app.sessions.leave(client, session.id)
    else:
        await client.app.sessions.close(params.session_id)
    return v2.CloseSessionResponse()


METHOD = Method(v2.CloseSessionRequest, close_session, access="view")
