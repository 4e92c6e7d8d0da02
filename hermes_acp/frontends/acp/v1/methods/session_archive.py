"""session/archive: close a session and hide it from the default list."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v1


async def archive_session(
    client: ClientConnection, params: v1.ArchiveSessionRequest
) -> v1.ArchiveSessionResponse:
    """Archive the session; archiving it twice changes nothing. Raises SessionNotFound or Busy."""
    await client.app.session_admin.archive(params.session_id)
    return v1.ArchiveSessionResponse()


METHOD = Method(v1.ArchiveSessionRequest, archive_session, is_unstable=True, access="alone")
