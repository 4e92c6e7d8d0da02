"""session/status: whether a session is open in this process; changes nothing."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import v1


def session_status(client: ClientConnection, params: v1.SessionStatusRequest) -> v1.SessionStatusResponse:
    """Answer whether it is open or saved. Raises SessionNotFound."""
    return v1.SessionStatusResponse(status=client.app.session_admin.status(params.session_id))


METHOD = Method(v1.SessionStatusRequest, session_status, is_unstable=True, access="any")
