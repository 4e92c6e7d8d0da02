"""session/unarchive: put a session back into the usual lists."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v1


async def unarchive_session(
    client: ClientConnection, params: v1.UnarchiveSessionRequest
) -> v1.UnarchiveSessionResponse:
    """Put it back, without opening it; one that is not archived stays so. Raises SessionNotFound, Busy."""
    await client.app.session_admin.unarchive(params.session_id)
    return v1.UnarchiveSessionResponse()


METHOD = Method(v1.UnarchiveSessionRequest, unarchive_session, is_unstable=True)
