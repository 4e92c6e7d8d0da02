"""session/load: open a stored session and show it again from its beginning."""

from hermes_acp.core.replay import replayable
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v1.audience import notify_event, view_of
from hermes_acp.faces.acp.v1.mcp_servers import specs_of
from hermes_acp.faces.acp.v1.modes import mode_state
from hermes_acp.faces.acp.v1.opening import admit, open_stored, options_state
from hermes_protocol import v1


async def load_session(desk: Desk, params: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
    """Replay everything, then answer. Raises NotFound, Busy, BadRequest."""
    servers = specs_of(params.mcp_servers)
    session, past = await open_stored(desk, params.session_id, params.cwd, params.system_prompt)
    view = view_of(desk, is_replay=True)
    for event in (*replayable(past.events), *past.news):
        notify_event(desk, session.id, event, view)
        await desk.connection.drained()
    await desk.house.employer.equip(session, servers)
    admit(desk, session)
    return v1.LoadSessionResponse(
        modes=mode_state(session.record), config_options=options_state(desk, session)
    )


METHOD = Method(v1.LoadSessionRequest, load_session)
