"""authenticate: look again whether a model can be reached."""

from hermes_acp.core.errors import BadRequest
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v1.auth_status import tell_auth_status
from hermes_acp.faces.acp.ways_in import CONFIGURED, SETUP
from hermes_protocol import v1


async def authenticate(desk: Desk, params: v1.AuthenticateRequest) -> v1.AuthenticateResponse:
    """Read the configuration afresh. Raises AuthRequired while nothing is found."""
    if params.method_id not in (CONFIGURED.id, SETUP.id):
        raise BadRequest(
            f"There is no auth method {params.method_id[:80]!r}.", hint=f"Use {CONFIGURED.id!r}."
        )
    await desk.house.outfitter.read_again()
    await tell_auth_status(desk)
    return v1.AuthenticateResponse()


METHOD = Method(v1.AuthenticateRequest, authenticate)
