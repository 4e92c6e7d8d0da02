"""providers/list: the providers and their addresses."""

import anyio.to_thread

from hermes_acp.config.provider_access import ProviderStatus
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.v1.provider_protocols import PROTOCOLS
from hermes_acp.models.wire.endpoints import hide_credentials
from hermes_protocol import v1


async def list_providers(
    client: ClientConnection, params: v1.ListProvidersRequest
) -> v1.ListProvidersResponse:
    """List the providers without any secret. Raises ConfigError."""
    provider_statuses = await anyio.to_thread.run_sync(client.app.configuration.access.provider_statuses)
    return v1.ListProvidersResponse(
        providers=[
            _info(provider_status)
            for provider_status in provider_statuses
            if provider_status.provider in PROTOCOLS
        ]
    )


def _info(provider_status: ProviderStatus) -> v1.ProviderInfo:
    protocol = PROTOCOLS[provider_status.provider]
    current = v1.ProviderCurrentConfig(api_type=protocol, base_url=hide_credentials(provider_status.base_url))
    return v1.ProviderInfo(
        provider_id=provider_status.provider,
        supported=[protocol],
        required=False,
        current=current if provider_status.base_url else None,
    )


METHOD = Method(v1.ListProvidersRequest, list_providers, is_unstable=True)
