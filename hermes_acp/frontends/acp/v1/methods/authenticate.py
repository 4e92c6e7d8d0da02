"""authenticate: reload the configuration and look for a model."""

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.auth_options import CONFIGURED, SETUP
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.frontends.acp.v1.auth_status import notify_auth_status
from hermes_protocol import v1


async def authenticate(client: ClientConnection, params: v1.AuthenticateRequest) -> v1.AuthenticateResponse:
    """Reload the configuration. Raises AuthRequired if no model is found."""
    if params.method_id not in (CONFIGURED.id, SETUP.id):
        raise BadRequest(errors.no_auth_method(params.method_id), hint=errors.auth_method_hint(CONFIGURED.id))
    await client.app.configuration.read_again()
    await notify_auth_status(client)
    return v1.AuthenticateResponse()


METHOD = Method(v1.AuthenticateRequest, authenticate)
