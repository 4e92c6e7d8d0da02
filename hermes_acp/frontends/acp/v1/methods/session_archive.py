"""session/archive: close a session and take it out of the usual lists."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_protocol import v1


async def archive_session(desk: Desk, params: v1.ArchiveSessionRequest) -> v1.ArchiveSessionResponse:
    """Archive it; one that is archived already stays so. Raises NotFound, Busy."""
    await desk.house.registrar.archive(params.session_id)
    return v1.ArchiveSessionResponse()


METHOD = Method(v1.ArchiveSessionRequest, archive_session, is_unstable=True)
