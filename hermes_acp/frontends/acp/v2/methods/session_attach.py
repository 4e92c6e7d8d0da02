"""session/attach: attach to an open session."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.session_attach import (
    AttachRequest,
    AttachResult,
    attach_to_session,
)
from hermes_acp.frontends.acp.v2.session_peers import SessionJoiner


async def attach_session(client: ClientConnection, params: AttachRequest) -> AttachResult:
    """Replay the requested history, then answer. Raises BadRequest, or PeerError if the session is not open."""
    return await attach_to_session(client, params, SessionJoiner())


METHOD = Method(AttachRequest, attach_session, is_unstable=True, access="any")
