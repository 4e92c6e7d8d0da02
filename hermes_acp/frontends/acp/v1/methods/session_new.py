"""session/new: begin a session in a working directory."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v1.mcp_servers import specs_of
from hermes_acp.faces.acp.v1.opening import admit, modes_state, options_state, workspace_opener
from hermes_acp.faces.acp.v1.system_prompt import instructions_of
from hermes_acp.faces.acp.workspace_trust import heed
from hermes_protocol import v1


async def new_session(desk: Desk, params: v1.NewSessionRequest) -> v1.NewSessionResponse:
    """Answer with the new session's id; its commands follow right behind. Raises AuthRequired, BadRequest."""
    house = desk.house
    await house.outfitter.require_model()
    servers = specs_of(desk, params.mcp_servers)
    instructions = instructions_of(params.system_prompt)
    session = await house.sessions.create(
        params.cwd, params.additional_directories or (), workspace_opener(desk)
    )
    session.instruct(instructions)
    heed(desk, session, params.meta)
    await house.employer.equip(session, servers, can_ask=desk.can_ask)
    admit(desk, session)
    return v1.NewSessionResponse(
        session_id=session.id,
        modes=modes_state(session),
        config_options=options_state(desk, session),
    )


METHOD = Method(v1.NewSessionRequest, new_session)
