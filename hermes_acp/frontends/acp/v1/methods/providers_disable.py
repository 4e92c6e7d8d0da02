"""providers/disable: disable a provider in this process."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.v1.auth_status import notify_auth_status
from hermes_protocol import v1


async def disable_provider(
    client: ClientConnection, params: v1.DisableProviderRequest
) -> v1.DisableProviderResponse:
    """Disable the provider from the next turn on; disabling it twice changes nothing. Raises BadRequest."""
    client.app.configuration.access.disable(params.provider_id)
    client.app.configuration.forget_model()
    await notify_auth_status(client)
    return v1.DisableProviderResponse()


METHOD = Method(v1.DisableProviderRequest, disable_provider, is_unstable=True)
