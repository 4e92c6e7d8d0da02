"""session/delete: delete a session and its record permanently."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v1


async def delete_session(
    client: ClientConnection, params: v1.DeleteSessionRequest
) -> v1.DeleteSessionResponse:
    """Delete the session; succeed if it does not exist. Raises Busy while another process has it open."""
    await client.app.sessions.delete(params.session_id)
    return v1.DeleteSessionResponse()


METHOD = Method(v1.DeleteSessionRequest, delete_session, access="alone")
