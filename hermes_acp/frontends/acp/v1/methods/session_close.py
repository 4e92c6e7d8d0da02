"""session/close: let a session go; what runs in it is stopped."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_protocol import v1


async def close_session(desk: Desk, params: v1.CloseSessionRequest) -> v1.CloseSessionResponse:
    """Stop and close. Raises NotFound."""
    desk.session(params.session_id)
    await desk.house.sessions.close(params.session_id)
    return v1.CloseSessionResponse()


METHOD = Method(v1.CloseSessionRequest, close_session)
