"""_hermes/trust/revoke: revoke the trust in a folder, or delete the permanent answers given there."""

import os

from anyio.to_thread import run_sync

from hermes_acp.core.event_types import Grant
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import own


async def revoke_trust(client: ClientConnection, params: own.TrustRevokeParams) -> own.TrustRevokeResult:
    """Revoke the trust or delete the answers. Raises BadRequest or StorageError."""
    await run_sync(client.app.session_creator.checked_roots, params.cwd, ())
    trust = client.app.workspace_trust
    if params.what == "items":
        await run_sync(trust.revoke, params.cwd)
    else:
        await run_sync(trust.answers.change, os.path.realpath(params.cwd), _nothing)
    return own.TrustRevokeResult()


def _nothing(_: tuple[Grant, ...]) -> tuple[Grant, ...]:
    return ()


EXTENSION = Method(own.TrustRevokeParams, revoke_trust)
