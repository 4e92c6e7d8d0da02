"""logout: use no model until the user authenticates again; nothing on disk is touched."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v1.auth_status import tell_auth_status
from hermes_protocol import v1


async def logout(desk: Desk, params: v1.LogoutRequest) -> v1.LogoutResponse:
    """Let go of the model."""
    desk.house.outfitter.sign_out()
    await tell_auth_status(desk)
    return v1.LogoutResponse()


METHOD = Method(v1.LogoutRequest, logout)
