"""session/unarchive: put a session back into the usual lists."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_protocol import v1


async def unarchive_session(desk: Desk, params: v1.UnarchiveSessionRequest) -> v1.UnarchiveSessionResponse:
    """Put it back, without opening it; one that is not archived stays so. Raises NotFound, Busy."""
    await desk.house.registrar.unarchive(params.session_id)
    return v1.UnarchiveSessionResponse()


METHOD = Method(v1.UnarchiveSessionRequest, unarchive_session, is_unstable=True)
