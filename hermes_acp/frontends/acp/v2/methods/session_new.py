"""session/new: begin a session in a working directory."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.diagnoses import take_diagnoses
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.v2.audience import available_commands, watch
from hermes_acp.faces.acp.v2.mcp_servers import specs_of
from hermes_acp.faces.acp.v2.opening import workspace_opener
from hermes_acp.faces.acp.v2.options import config_options
from hermes_acp.faces.acp.workspace_trust import heed
from hermes_protocol import v2


async def new_session(desk: Desk, params: v2.NewSessionRequest) -> v2.NewSessionResponse:
    """Answer with the new session, which is idle. Raises AuthRequired, BadRequest."""
    house = desk.house
    await house.outfitter.require_model()
    servers = specs_of(desk, params.mcp_servers)
    session = await house.sessions.create(
        params.cwd, params.additional_directories or (), workspace_opener(desk)
    )
    heed(desk, session, params.meta)
    await house.employer.equip(session, servers, can_ask=desk.can_ask)
    take_diagnoses(desk, session)
    watch(desk, session)
    return v2.NewSessionResponse(
        session_id=session.id,
        config_options=config_options(session),
        available_commands=available_commands(session),
    )


METHOD = Method(v2.NewSessionRequest, new_session)
