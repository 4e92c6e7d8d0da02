"""session/close: stop the running turn and close the session."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v2


async def close_session(client: ClientConnection, params: v2.CloseSessionRequest) -> v2.CloseSessionResponse:
    """Stop and close the session, if it is open; an observer, or one of several clients, only detaches."""
    if session := client.app.sessions.get(params.session_id):
        await client.app.departures.release(session, client)
    return v2.CloseSessionResponse()


METHOD = Method(v2.CloseSessionRequest, close_session, access="view")
