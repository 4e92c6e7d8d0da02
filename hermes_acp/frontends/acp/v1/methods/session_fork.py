"""session/fork: start a session with the history of another."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.meta_extensions import own_meta
from hermes_acp.frontends.acp.v1.client_instructions import instructions_of
from hermes_acp.frontends.acp.v1.mcp_servers import specs_of
from hermes_acp.frontends.acp.v1.session_opening import admit, modes_state, options_state, workspace_opener
from hermes_protocol import v1


async def fork_session(client: ClientConnection, params: v1.ForkSessionRequest) -> v1.ForkSessionResponse:
    """Answer with the new session's id; nothing is replayed. Raises SessionNotFound, AuthRequired or BadRequest."""
    app = client.app
    await app.configuration.require_model()
    servers = specs_of(client, params.mcp_servers)
    before = own_meta(params.meta).get("beforeMessage")
    session = await app.session_admin.fork(
        params.session_id,
        params.cwd,
        params.additional_directories or (),
        workspace_opener(client),
        instructions_of(params.system_prompt),
        before=before if isinstance(before, str) else "",
    )
    await app.mcp_manager.equip(session, servers, can_ask=client.can_ask)
    admit(client, session)
    return v1.ForkSessionResponse(
        session_id=session.id,
        modes=modes_state(session),
        config_options=options_state(client, session),
    )


METHOD = Method(v1.ForkSessionRequest, fork_session, is_unstable=True, access="view")
