"""providers/disable: use a provider no more, in this process alone."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v1.auth_status import tell_auth_status
from hermes_protocol import v1


async def disable_provider(desk: Desk, params: v1.DisableProviderRequest) -> v1.DisableProviderResponse:
    """Disable it from the next turn on; one that is disabled already stays so. Raises BadRequest."""
    desk.house.outfitter.access.disable(params.provider_id)
    desk.house.outfitter.forget_model()
    await tell_auth_status(desk)
    return v1.DisableProviderResponse()


METHOD = Method(v1.DisableProviderRequest, disable_provider, is_unstable=True)
