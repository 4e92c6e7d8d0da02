"""session/load: open a stored session and show it again from its beginning."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v1.audience import EditorAudience
from hermes_acp.faces.acp.v1.mcp_servers import specs_of
from hermes_acp.faces.acp.v1.opening import announce_commands, modes_state, open_stored, options_state
from hermes_acp.sessions.catching_up import CatchingUp
from hermes_protocol import v1


async def load_session(desk: Desk, params: v1.LoadSessionRequest) -> v1.LoadSessionResponse:
    """Replay everything, then answer; what happens meanwhile comes last. Raises NotFound, Busy, BadRequest."""
    servers = specs_of(desk, params.mcp_servers)
    with CatchingUp(lambda session: EditorAudience(desk, session)) as latecomer:
        session, past = await open_stored(desk, params, latecomer.join)
        await latecomer.hear(past)
    await desk.house.employer.equip(session, servers, can_ask=desk.can_ask)
    announce_commands(desk, session)
    return v1.LoadSessionResponse(
        modes=modes_state(session),
        config_options=options_state(desk, session),
    )


METHOD = Method(v1.LoadSessionRequest, load_session)
