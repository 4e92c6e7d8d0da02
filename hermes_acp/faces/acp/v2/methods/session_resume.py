"""session/resume: open a stored session, and show it again from its start if asked to."""

from hermes_acp.core.errors import BadRequest, NotFound
from hermes_acp.core.events import Noticed
from hermes_acp.core.replay import replayable
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v2.audience import EditorAudience
from hermes_acp.faces.acp.v2.mcp_servers import specs_of
from hermes_acp.faces.acp.v2.opening import available_commands, workspace_opener
from hermes_acp.faces.acp.v2.options import config_options
from hermes_acp.faces.acp.v2.sessions import unknown_session
from hermes_acp.sessions.manager import Past
from hermes_acp.sessions.session import Session
from hermes_protocol import v2


async def resume_session(desk: Desk, params: v2.ResumeSessionRequest) -> v2.ResumeSessionResponse:
    """Replay what was asked for, say whether a turn runs, then answer. Raises Busy, BadRequest, PeerError."""
    if isinstance(params.replay_from, v2.ReplayFromOther):
        raise BadRequest("A session cannot be replayed from there.", hint="Replay it from its start.")
    servers = specs_of(params.mcp_servers)
    session, past = await _load(desk, params)
    audience = EditorAudience(desk, session)
    if params.replay_from:
        for event in (*replayable(past.events), *past.news):
            await audience.replay(event)
    else:
        for event in past.news:
            if isinstance(event, Noticed):
                audience.show(event)
    await desk.house.employer.equip(session, servers)
    is_running = bool(session.record.open_turn)
    audience.notify(v2.SessionUpdateRunningStateUpdate() if is_running else v2.SessionUpdateIdleStateUpdate())
    session.ledger.admit(audience)
    return v2.ResumeSessionResponse(
        config_options=config_options(session), available_commands=available_commands(session)
    )


async def _load(desk: Desk, params: v2.ResumeSessionRequest) -> tuple[Session, Past]:
    try:
        return await desk.house.sessions.load(params.session_id, params.cwd, workspace_opener(desk))
    except NotFound as error:
        raise unknown_session(error, params.session_id) from error


METHOD = Method(v2.ResumeSessionRequest, resume_session)
