"""_hermes/trust/approve: trust items of a folder, in exactly the version that the user has read."""

from anyio.to_thread import run_sync

from hermes_acp.context.context_approvals import CONTEXT_FILE
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import own


async def approve_trust(client: ClientConnection, params: own.TrustApproveParams) -> own.TrustApproveResult:
    """Trust the items that are unchanged since they were listed. Raises BadRequest or StorageError."""
    await run_sync(client.app.session_creator.checked_roots, params.cwd, ())
    return await run_sync(_approve, client, params)


def _approve(client: ClientConnection, params: own.TrustApproveParams) -> own.TrustApproveResult:
    trust = client.app.workspace_trust
    if trust.is_distrusted(params.cwd):
        return own.TrustApproveResult(approved=0)
    named = {(each.kind, each.name, each.digest) for each in params.items}
    trust.settings_of(params.cwd, again=True)
    items = [each for each in trust.items(params.cwd) if (each.kind, each.name, each.digest) in named]
    if items:
        trust.trust(params.cwd, items)
    files = [each for each in params.items if each.kind == CONTEXT_FILE]
    for file in files:
        # The approval is bound to the content. If the file has changed since, this approves nothing.
        client.app.context.approve(params.cwd, file.name, file.digest)
    return own.TrustApproveResult(approved=len(items) + len(files))


EXTENSION = Method(own.TrustApproveParams, approve_trust)
