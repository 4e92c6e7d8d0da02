"""session/set_config_option: change one option of a session; the answer is the complete list."""

from hermes_acp.faces.acp.choices import set_option
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v1.opening import options_state
from hermes_protocol import v1


async def set_config_option(
    desk: Desk, params: v1.SetSessionConfigOptionRequest
) -> v1.SetSessionConfigOptionResponse:
    """Set it. Raises NotFound, BadRequest."""
    session = desk.session(params.session_id)
    set_option(session, params.config_id, params.value)
    return v1.SetSessionConfigOptionResponse(config_options=options_state(desk, session))


METHOD = Method(v1.SetSessionConfigOptionRequest, set_config_option)
