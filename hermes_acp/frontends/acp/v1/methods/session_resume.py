"""session/resume: open a stored session without showing it again."""

from msgspec import UNSET

from hermes_acp.core.events import Noticed
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v1.audience import EditorAudience, watch
from hermes_acp.faces.acp.v1.mcp_servers import specs_of
from hermes_acp.faces.acp.v1.opening import announce_commands, modes_state, open_stored, options_state
from hermes_protocol import v1


async def resume_session(desk: Desk, params: v1.ResumeSessionRequest) -> v1.ResumeSessionResponse:
    """Open the session and say what opening it brought to light. Raises NotFound, Busy, BadRequest."""
    servers = specs_of(desk, params.mcp_servers)
    session, past = await open_stored(desk, params, lambda session: watch(desk, session))
    for event in past.news:
        if isinstance(event, Noticed):
            EditorAudience(desk, session).show(event)
    named = None if params.mcp_servers is UNSET else servers
    await desk.house.employer.equip(session, named, can_ask=desk.can_ask)
    announce_commands(desk, session)
    if session.record.usage.used_tokens:
        desk.after_answer(lambda: EditorAudience(desk, session).show(session.record.usage))
    return v1.ResumeSessionResponse(
        modes=modes_state(session),
        config_options=options_state(desk, session),
    )


METHOD = Method(v1.ResumeSessionRequest, resume_session)
