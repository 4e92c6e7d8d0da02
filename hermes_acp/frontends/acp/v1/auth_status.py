"""Determine the authentication status: whether a model can be used without signing in."""

import anyio.to_thread

from hermes_acp.core.errors import AuthRequired, ConfigError, HermesError
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_protocol import v1


async def auth_status(client: ClientConnection) -> v1.AuthStatusResponse:
    """Return the status of the configured model or, without one, of a model on this machine. Changes nothing."""
    app = client.app
    try:
        provider_statuses = await anyio.to_thread.run_sync(app.configuration.access.provider_statuses)
    except ConfigError:
        return v1.AuthStatusResponse(state="unknown")
    accounts = [
        v1.AuthAccount(
            label=provider_status.account,
            active=provider_status.is_used and not app.configuration.is_signed_out,
        )
        for provider_status in provider_statuses
        if provider_status.account
    ]
    if app.configuration.is_signed_out:
        return v1.AuthStatusResponse(state="unauthenticated", accounts=accounts)
    if used := next(
        (provider_status for provider_status in provider_statuses if provider_status.is_used), None
    ):
        return v1.AuthStatusResponse(
            state="authenticated" if used.account else "not_required", accounts=accounts
        )
    try:
        await app.configuration.find_model()
    except AuthRequired:
        return v1.AuthStatusResponse(state="unauthenticated", accounts=accounts)
    except HermesError:
        return v1.AuthStatusResponse(state="unknown", accounts=accounts)
    return v1.AuthStatusResponse(state="not_required", accounts=accounts)


async def notify_auth_status(client: ClientConnection) -> None:
    """Notify every client whose last known status differs."""
    if not client.offers_unstable:
        return
    status = await auth_status(client)
    update = v1.AuthStatusUpdateNotification(state=status.state, accounts=status.accounts)
    for other in client.registry.clients:
        if isinstance(other.greeted, v1.InitializeRequest) and status != other.last_auth_status:
            other.last_auth_status = status
            other.connection.notify("auth/status_update", update)
