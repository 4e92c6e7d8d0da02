"""session/set_config_option: change an option of a session; the response contains all options."""

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.frontends.acp.session_setup.session_options import MODEL, learn_model, set_option
from hermes_acp.frontends.acp.v2.options import config_options
from hermes_protocol import v2


async def set_config_option(
    client: ClientConnection, params: v2.SetSessionConfigOptionRequest
) -> v2.SetSessionConfigOptionResponse:
    """Set the option. Raises SessionNotFound or BadRequest."""
    session = client.session(params.session_id)
    if isinstance(params, v2.SetSessionConfigOptionRequestOther):
        raise BadRequest(errors.unknown_value_type(params.type))
    if params.config_id == MODEL:
        await learn_model(client.app.configuration, session, params.value)
    set_option(session, params.config_id, params.value)
    return v2.SetSessionConfigOptionResponse(config_options=config_options(session))


METHOD = Method(v2.SetSessionConfigOptionRequest, set_config_option)
