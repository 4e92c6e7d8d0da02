"""providers/list: the providers there are, and where each is reached."""

import anyio.to_thread

from hermes_acp.config.access import ProviderWay
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v1.providers import PROTOCOLS
from hermes_acp.models.endpoints import hide_credentials
from hermes_protocol import v1


async def list_providers(desk: Desk, params: v1.ListProvidersRequest) -> v1.ListProvidersResponse:
    """List them without any secret. Raises BadConfig."""
    ways = await anyio.to_thread.run_sync(desk.house.outfitter.access.ways)
    return v1.ListProvidersResponse(providers=[_info(way) for way in ways if way.provider in PROTOCOLS])


def _info(way: ProviderWay) -> v1.ProviderInfo:
    protocol = PROTOCOLS[way.provider]
    current = v1.ProviderCurrentConfig(api_type=protocol, base_url=hide_credentials(way.base_url))
    return v1.ProviderInfo(
        provider_id=way.provider,
        supported=[protocol],
        required=False,
        current=current if way.base_url else None,
    )


METHOD = Method(v1.ListProvidersRequest, list_providers, is_unstable=True)
