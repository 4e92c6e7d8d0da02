"""session/close: stop what runs in a session and close it."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v1


async def close_session(client: ClientConnection, params: v1.CloseSessionRequest) -> v1.CloseSessionResponse:
    """Stop and close, or only leave if other clients are attached. Raise SessionNotFound."""
    session = client.session(params.session_id)
    if len(session.clients) > 1:
        await client.app.sessions.leave(client, session.id)
    else:
        await client.app.sessions.close(session.id)
    return v1.CloseSessionResponse()


METHOD = Method(v1.CloseSessionRequest, close_session, access="view")
