"""auth/logout: use no model until the user logs in again; nothing on disk is touched."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_protocol import v2


async def log_out(desk: Desk, params: v2.LogoutAuthRequest) -> v2.LogoutAuthResponse:
    """Let go of the model."""
    desk.house.outfitter.sign_out()
    return v2.LogoutAuthResponse()


METHOD = Method(v2.LogoutAuthRequest, log_out)
