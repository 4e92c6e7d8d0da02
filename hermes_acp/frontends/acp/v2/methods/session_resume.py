"""session/resume: open a stored session, and replay it from the beginning on request."""

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import Noticed
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.client_role import role_in
from hermes_acp.frontends.acp.extensions.editor_diagnostics import attach_diagnostics
from hermes_acp.frontends.acp.extensions.editor_trust import apply_editor_trust
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.frontends.acp.session_setup.attachment import is_shared
from hermes_acp.frontends.acp.v2.audience import EditorAudience, available_commands, notify
from hermes_acp.frontends.acp.v2.mcp_servers import specs_of
from hermes_acp.frontends.acp.v2.options import config_options
from hermes_acp.frontends.acp.v2.session_opening import join, workspace_opener
from hermes_acp.sessions.clients.catch_up import CatchUp
from hermes_acp.sessions.session import Session
from hermes_acp.sessions.session_manager import OnOpened, SessionHistory
from hermes_protocol import v2


async def resume_session(
    client: ClientConnection, params: v2.ResumeSessionRequest
) -> v2.ResumeSessionResponse:
    """Replay on request, say whether a turn is running, then answer. Raises SessionNotFound, Busy or BadRequest."""
    if isinstance(params.replay_from, v2.ReplayFromOther):
        raise BadRequest(errors.BAD_REPLAY_START, hint=errors.BAD_REPLAY_START_HINT)
    servers, has_servers = specs_of(client, params.mcp_servers), is_shared(client, params.session_id)
    session = await (_replay(client, params) if params.replay_from else _open(client, params))
    if role_in(params.meta) == "controller":
        apply_editor_trust(client, session, params.meta)
        attach_diagnostics(client, session)
    if not has_servers:
        await client.app.mcp_manager.equip(session, servers, can_ask=client.can_ask)
    is_running = bool(session.record.open_turn)
    state = v2.SessionUpdateRunningStateUpdate() if is_running else v2.SessionUpdateIdleStateUpdate()
    notify(client, session.id, state)
    return v2.ResumeSessionResponse(
        config_options=config_options(session), available_commands=available_commands(session)
    )


async def _replay(client: ClientConnection, params: v2.ResumeSessionRequest) -> Session:
    """Open the session and replay everything, including events that happen in the meantime."""
    with CatchUp(lambda session: EditorAudience(client, session)) as catch_up:
        session, past = await _load(client, params, catch_up.join)
        await catch_up.hear(past)
    join(client, session, role_in(params.meta))
    return session


async def _open(client: ClientConnection, params: v2.ResumeSessionRequest) -> Session:
    """Open the session, and send the notices that opening it produced."""
    role = role_in(params.meta)
    session, past = await _load(client, params, lambda session: join(client, session, role))
    for event in past.news:
        if isinstance(event, Noticed):
            EditorAudience(client, session).show(event)
    return session


async def _load(
    client: ClientConnection, params: v2.ResumeSessionRequest, begin_to_watch: OnOpened
) -> tuple[Session, SessionHistory]:
    more_roots = None if is_shared(client, params.session_id) else params.additional_directories or ()
    return await client.app.sessions.load(
        params.session_id, params.cwd, workspace_opener(client), more_roots, begin_to_watch, may_follow=True
    )


METHOD = Method(v2.ResumeSessionRequest, resume_session, access="any")
