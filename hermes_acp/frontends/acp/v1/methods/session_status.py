"""session/status: whether a session is alive in this process; looks and touches nothing."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_protocol import v1


def session_status(desk: Desk, params: v1.SessionStatusRequest) -> v1.SessionStatusResponse:
    """Say whether it is open or saved. Raises NotFound."""
    return v1.SessionStatusResponse(status=desk.house.registrar.status(params.session_id))


METHOD = Method(v1.SessionStatusRequest, session_status, is_unstable=True)
