"""session/unarchive: restore a session to the default list."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v1


async def unarchive_session(
    client: ClientConnection, params: v1.UnarchiveSessionRequest
) -> v1.UnarchiveSessionResponse:
    """Unarchive the session without opening it; doing so twice changes nothing. Raises SessionNotFound or Busy."""
    await client.app.session_admin.unarchive(params.session_id)
    return v1.UnarchiveSessionResponse()


METHOD = Method(v1.UnarchiveSessionRequest, unarchive_session, is_unstable=True)
