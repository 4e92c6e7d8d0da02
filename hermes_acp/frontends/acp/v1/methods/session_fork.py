"""session/fork: begin a session with the past of another."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v1.mcp_servers import specs_of
from hermes_acp.faces.acp.v1.opening import admit, modes_state, options_state, workspace_opener
from hermes_acp.faces.acp.v1.system_prompt import instructions_of
from hermes_protocol import v1


async def fork_session(desk: Desk, params: v1.ForkSessionRequest) -> v1.ForkSessionResponse:
    """Answer with the new session's id; nothing is shown again. Raises NotFound, AuthRequired, BadRequest."""
    house = desk.house
    await house.outfitter.require_model()
    servers = specs_of(desk, params.mcp_servers)
    session = await house.registrar.fork(
        params.session_id,
        params.cwd,
        params.additional_directories or (),
        workspace_opener(desk),
        instructions_of(params.system_prompt),
    )
    await house.employer.equip(session, servers, can_ask=desk.can_ask)
    admit(desk, session)
    return v1.ForkSessionResponse(
        session_id=session.id,
        modes=modes_state(session),
        config_options=options_state(desk, session),
    )


METHOD = Method(v1.ForkSessionRequest, fork_session, is_unstable=True)
