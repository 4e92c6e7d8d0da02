"""session/set_config_option: change an option of a session; the response contains all options."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.session_setup.session_options import MODEL, learn_model, set_option
from hermes_acp.frontends.acp.v1.session_opening import options_state
from hermes_protocol import v1


async def set_config_option(
    client: ClientConnection, params: v1.SetSessionConfigOptionRequest
) -> v1.SetSessionConfigOptionResponse:
    """Set the option. Raises SessionNotFound or BadRequest."""
    session = client.session(params.session_id)
    if params.config_id == MODEL:
        await learn_model(client.app.configuration, session, params.value)
    set_option(session, params.config_id, params.value)
    return v1.SetSessionConfigOptionResponse(config_options=options_state(client, session))


METHOD = Method(v1.SetSessionConfigOptionRequest, set_config_option)
