"""session/status: whether a session is alive in this process; looks and touches nothing."""

from hermes_acp.core.errors import NotFound
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_protocol import v1
from hermes_protocol.errors import NOT_FOUND, PeerError


def session_status(desk: Desk, params: v1.SessionStatusRequest) -> v1.SessionStatusResponse:
    """Say whether it is open or saved; the error for an unknown one names it, as the schema asks."""
    try:
        return v1.SessionStatusResponse(status=desk.house.registrar.status(params.session_id))
    except NotFound as error:
        data = {"code": error.code, "sessionId": params.session_id}
        raise PeerError(NOT_FOUND, error.sentence(), data) from error


METHOD = Method(v1.SessionStatusRequest, session_status, is_unstable=True)
