"""session/new: start a session in a working directory."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.client_surface import surface_of
from hermes_acp.frontends.acp.extensions.editor_trust import apply_editor_trust
from hermes_acp.frontends.acp.v1.client_instructions import instructions_of
from hermes_acp.frontends.acp.v1.mcp_servers import specs_of
from hermes_acp.frontends.acp.v1.session_opening import admit, modes_state, options_state, workspace_opener
from hermes_protocol import v1


async def new_session(client: ClientConnection, params: v1.NewSessionRequest) -> v1.NewSessionResponse:
    """Answer with the new session's ID; its commands follow immediately. Raises AuthRequired or BadRequest."""
    app = client.app
    await app.configuration.require_model()
    servers = specs_of(client, params.mcp_servers)
    instructions = instructions_of(params.system_prompt)
    session = await app.sessions.create(
        params.cwd, params.additional_directories or (), workspace_opener(client), surface=surface_of(client)
    )
    session.instruct(instructions)
    apply_editor_trust(client, session, params.meta)
    await app.mcp_manager.equip(session, servers, can_ask=client.can_ask)
    admit(client, session)
    return v1.NewSessionResponse(
        session_id=session.id,
        modes=modes_state(session),
        config_options=options_state(client, session),
    )


METHOD = Method(v1.NewSessionRequest, new_session)
