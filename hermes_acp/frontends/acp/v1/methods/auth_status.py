"""auth/status: whether a model can be used without signing in."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v1.auth_status import auth_status
from hermes_protocol import v1


async def answer_auth_status(desk: Desk, params: v1.AuthStatusRequest) -> v1.AuthStatusResponse:
    """Answer with the state and the accounts there are, by name alone."""
    status = desk.auth_told = await auth_status(desk)
    return status


METHOD = Method(v1.AuthStatusRequest, answer_auth_status, is_unstable=True)
