"""session/new: start a session in a working directory."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.client_surface import surface_of
from hermes_acp.frontends.acp.extensions.editor_diagnostics import attach_diagnostics
from hermes_acp.frontends.acp.extensions.editor_trust import apply_editor_trust
from hermes_acp.frontends.acp.v2.audience import available_commands
from hermes_acp.frontends.acp.v2.mcp_servers import specs_of
from hermes_acp.frontends.acp.v2.options import config_options
from hermes_acp.frontends.acp.v2.session_opening import join, workspace_opener
from hermes_protocol import v2


async def new_session(client: ClientConnection, params: v2.NewSessionRequest) -> v2.NewSessionResponse:
    """Answer with the new session, which is idle. Raises AuthRequired or BadRequest."""
    app = client.app
    await app.configuration.require_model()
    servers = specs_of(client, params.mcp_servers)
    session = await app.sessions.create(
        params.cwd, params.additional_directories or (), workspace_opener(client), surface=surface_of(client)
    )
    apply_editor_trust(client, session, params.meta)
    await app.mcp_manager.equip(session, servers, can_ask=client.can_ask)
    attach_diagnostics(client, session)
    join(client, session)
    return v2.NewSessionResponse(
        session_id=session.id,
        config_options=config_options(session),
        available_commands=available_commands(session),
    )


METHOD = Method(v2.NewSessionRequest, new_session)
