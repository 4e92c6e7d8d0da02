"""session/resume: open a stored session, and show it again from its start if asked to."""

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import Noticed
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.diagnoses import take_diagnoses
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v2.audience import EditorAudience, available_commands, notify, watch
from hermes_acp.faces.acp.v2.mcp_servers import specs_of
from hermes_acp.faces.acp.v2.opening import workspace_opener
from hermes_acp.faces.acp.v2.options import config_options
from hermes_acp.faces.acp.workspace_trust import heed
from hermes_acp.sessions.catching_up import CatchingUp
from hermes_acp.sessions.manager import Past, Watch
from hermes_acp.sessions.session import Session
from hermes_protocol import v2


async def resume_session(desk: Desk, params: v2.ResumeSessionRequest) -> v2.ResumeSessionResponse:
    """Replay what was asked for, say whether a turn runs, then answer. Raises NotFound, Busy, BadRequest."""
    if isinstance(params.replay_from, v2.ReplayFromOther):
        raise BadRequest("A session cannot be replayed from there.", hint="Replay it from its start.")
    servers = specs_of(desk, params.mcp_servers)
    session = await (_show_again(desk, params) if params.replay_from else _go_on(desk, params))
    heed(desk, session, params.meta)
    await desk.house.employer.equip(session, servers, can_ask=desk.can_ask)
    is_running = bool(session.record.open_turn)
    state = v2.SessionUpdateRunningStateUpdate() if is_running else v2.SessionUpdateIdleStateUpdate()
    notify(desk, session.id, state)
    return v2.ResumeSessionResponse(
        config_options=config_options(session), available_commands=available_commands(session)
    )


async def _show_again(desk: Desk, params: v2.ResumeSessionRequest) -> Session:
    """Open it and replay everything; what happens meanwhile comes last."""
    with CatchingUp(lambda session: EditorAudience(desk, session)) as latecomer:
        session, past = await _load(desk, params, latecomer.join)
        await latecomer.hear(past)
    return session


async def _go_on(desk: Desk, params: v2.ResumeSessionRequest) -> Session:
    """Open it and say what that brought to light."""
    session, past = await _load(desk, params, lambda session: watch(desk, session))
    for event in past.news:
        if isinstance(event, Noticed):
            EditorAudience(desk, session).show(event)
    return session


async def _load(desk: Desk, params: v2.ResumeSessionRequest, begin_to_watch: Watch) -> tuple[Session, Past]:
    more_roots = params.additional_directories or ()
    session, past = await desk.house.sessions.load(
        params.session_id, params.cwd, workspace_opener(desk), more_roots, begin_to_watch
    )
    take_diagnoses(desk, session)
    return session, past


METHOD = Method(v2.ResumeSessionRequest, resume_session)
