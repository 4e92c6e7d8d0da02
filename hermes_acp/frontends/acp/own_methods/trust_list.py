"""_hermes/trust/list: the items of a folder that need trust, and the permanent answers given there."""

from anyio.to_thread import run_sync

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.policy.grants import describe_grant
from hermes_protocol import own


async def list_trust(client: ClientConnection, params: own.TrustListParams) -> own.TrustListResult:
    """List the folder's items and answers. Raises BadRequest."""
    await run_sync(client.app.session_creator.checked_roots, params.cwd, ())
    return await run_sync(_listed, client, params.cwd)


def _listed(client: ClientConnection, cwd: str) -> own.TrustListResult:
    trust = client.app.workspace_trust
    found = trust.settings_of(cwd)
    return own.TrustListResult(
        items=[
            own.TrustListItem(
                kind=each.kind,
                name=each.name,
                about=each.about,
                is_trusted=trust.is_trusted(cwd, each),
                digest=each.digest,
            )
            for each in trust.items(cwd)
        ],
        grants=[
            own.TrustListGrant(about=describe_grant(each), is_allowed=each.allowed)
            for each in trust.grants(cwd)
        ],
        is_distrusted=trust.is_distrusted(cwd),
        notices=list(found.notices) if found else [],
    )


EXTENSION = Method(own.TrustListParams, list_trust, access="view")
