"""providers/set: change a provider's address or headers in this process."""

from hermes_acp.config.provider_access import ProviderEndpoint
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.frontends.acp.v1.auth_status import notify_auth_status
from hermes_acp.frontends.acp.v1.provider_protocols import PROTOCOLS
from hermes_protocol import v1


async def set_provider(client: ClientConnection, params: v1.SetProviderRequest) -> v1.SetProviderResponse:
    """Use the new address and headers from the next turn on. Raises BadRequest, which never quotes either."""
    app = client.app
    route = ProviderEndpoint(params.base_url, tuple((params.headers or {}).items()))
    protocols = [protocol for name, protocol in PROTOCOLS.items() if name == params.provider_id]
    if protocols and params.api_type not in protocols:
        raise BadRequest(errors.wrong_provider_protocol(params.provider_id, protocols[0]))
    app.configuration.access.route(params.provider_id, route)
    app.configuration.forget_model()
    await notify_auth_status(client)
    return v1.SetProviderResponse()


METHOD = Method(v1.SetProviderRequest, set_provider, is_unstable=True)
