"""session/status: say whether a session is open in this process, without changing anything."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v1


def session_status(client: ClientConnection, params: v1.SessionStatusRequest) -> v1.SessionStatusResponse:
    """Return whether the session is open or only stored. Raises SessionNotFound."""
    return v1.SessionStatusResponse(status=client.app.session_admin.status(params.session_id))


METHOD = Method(v1.SessionStatusRequest, session_status, is_unstable=True, access="any")
