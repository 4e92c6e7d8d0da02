"""session/set_mode: change what needs permission."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.session_setup.session_options import offered_mode, refused_mode
from hermes_protocol import v1


async def set_mode(client: ClientConnection, params: v1.SetSessionModeRequest) -> v1.SetSessionModeResponse:
    """Switch the mode for the questions that follow. Raises SessionNotFound or BadRequest."""
    session = client.session(params.session_id)
    mode = offered_mode(params.mode_id, allows_bypass=session.offers.allows_bypass)
    if mode is None:
        raise refused_mode(params.mode_id, allows_bypass=session.offers.allows_bypass)
    session.set_mode(mode)
    return v1.SetSessionModeResponse()


METHOD = Method(v1.SetSessionModeRequest, set_mode)
