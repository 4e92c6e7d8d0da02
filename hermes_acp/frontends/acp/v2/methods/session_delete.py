"""session/delete: remove a session and its record for good."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v2


async def delete_session(
    client: ClientConnection, params: v2.DeleteSessionRequest
) -> v2.DeleteSessionResponse:
    """Delete it; one that does not exist is deleted already. Raises Busy while another process has it open."""
    await client.app.sessions.delete(params.session_id)
    return v2.DeleteSessionResponse()


METHOD = Method(v2.DeleteSessionRequest, delete_session)
