"""auth/login: reload the configuration and look for a model."""

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.auth_options import CONFIGURED
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import errors
from hermes_protocol import v2


async def log_in(client: ClientConnection, params: v2.LoginAuthRequest) -> v2.LoginAuthResponse:
    """Reload the configuration. Raises AuthRequired, or BadRequest for the terminal method, which is not a login."""
    if params.method_id != CONFIGURED.id:
        raise BadRequest(errors.no_auth_method(params.method_id), hint=errors.auth_method_hint(CONFIGURED.id))
    await client.app.configuration.read_again()
    return v2.LoginAuthResponse()


METHOD = Method(v2.LoginAuthRequest, log_in)
