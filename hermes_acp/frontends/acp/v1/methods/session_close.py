"""session/close: stop the running turn and close the session."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v1


async def close_session(client: ClientConnection, params: v1.CloseSessionRequest) -> v1.CloseSessionResponse:
    """Stop and close the session. An observer, or one of several clients, only detaches. Raises SessionNotFound."""
    await client.app.departures.release(client.session(params.session_id), client)
    return v1.CloseSessionResponse()


METHOD = Method(v1.CloseSessionRequest, close_session, access="view")
