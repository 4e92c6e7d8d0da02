"""Whether a model can be used without signing in, as a client is told.

Knows: the states and what counts as an account. Does not know: how a key is checked; none is ever shown.
"""

import anyio.to_thread

from hermes_acp.core.errors import AuthRequired, BadConfig, HermesError
from hermes_acp.faces.acp.desk import Desk
from hermes_protocol import v1


async def auth_status(desk: Desk) -> v1.AuthStatusResponse:
    """Look at what is configured, and where that is nothing, for a model on this machine; changes nothing."""
    house = desk.house
    try:
        ways = await anyio.to_thread.run_sync(house.outfitter.access.ways)
    except BadConfig:
        return v1.AuthStatusResponse(state="unknown")
    accounts = [
        v1.AuthAccount(label=way.account, active=way.is_used and not house.outfitter.is_signed_out)
        for way in ways
        if way.account
    ]
    if house.outfitter.is_signed_out:
        return v1.AuthStatusResponse(state="unauthenticated", accounts=accounts)
    if used := next((way for way in ways if way.is_used), None):
        return v1.AuthStatusResponse(
            state="authenticated" if used.account else "not_required", accounts=accounts
        )
    try:
        await house.outfitter.find_model()
    except AuthRequired:
        return v1.AuthStatusResponse(state="unauthenticated", accounts=accounts)
    except HermesError:
        return v1.AuthStatusResponse(state="unknown", accounts=accounts)
    return v1.AuthStatusResponse(state="not_required", accounts=accounts)


async def tell_auth_status(desk: Desk) -> None:
    """Tell every client of this house that was offered it of a status that is not the one it was told last."""
    if not desk.offers_unstable:
        return
    status = await auth_status(desk)
    update = v1.AuthStatusUpdateNotification(state=status.state, accounts=status.accounts)
    for other in desk.hall.desks:
        if isinstance(other.greeted, v1.InitializeRequest) and status != other.auth_told:
            other.auth_told = status
            other.connection.notify("auth/status_update", update)
