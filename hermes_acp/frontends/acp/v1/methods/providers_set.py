"""providers/set: reach a provider another way, in this process alone."""

from hermes_acp.config.access import ProviderRoute
from hermes_acp.core.errors import BadRequest
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v1.auth_status import tell_auth_status
from hermes_acp.faces.acp.v1.providers import PROTOCOLS
from hermes_protocol import v1


async def set_provider(desk: Desk, params: v1.SetProviderRequest) -> v1.SetProviderResponse:
    """Use the route from the next turn on. Raises BadRequest, which never quotes an address or a header."""
    house = desk.house
    route = ProviderRoute(params.base_url, tuple((params.headers or {}).items()))
    protocols = [protocol for name, protocol in PROTOCOLS.items() if name == params.provider_id]
    if protocols and params.api_type not in protocols:
        raise BadRequest(f"{params.provider_id!r} speaks {protocols[0]!r} alone.")
    house.outfitter.access.route(params.provider_id, route)
    house.outfitter.forget_model()
    await tell_auth_status(desk)
    return v1.SetProviderResponse()


METHOD = Method(v1.SetProviderRequest, set_provider, is_unstable=True)
