"""session/close: let a session go; what runs in it is stopped."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_protocol import v2


async def close_session(desk: Desk, params: v2.CloseSessionRequest) -> v2.CloseSessionResponse:
    """Stop and close; one that is not open is closed already."""
    await desk.house.sessions.close(params.session_id)
    return v2.CloseSessionResponse()


METHOD = Method(v2.CloseSessionRequest, close_session)
