"""session/list: what can be resumed, newest first."""

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.listing import page_of
from hermes_acp.faces.acp.method import Method
from hermes_acp.faces.acp.times import iso_time
from hermes_acp.storage.sessions import SessionRow
from hermes_protocol import v2


async def list_sessions(desk: Desk, params: v2.ListSessionsRequest) -> v2.ListSessionsResponse:
    """Give one page, and a cursor while there may be more. Raises BadRequest for a cursor that is none of ours."""
    rows, cursor = await page_of(desk, params.cwd or None, params.cursor or None)
    return v2.ListSessionsResponse(sessions=[_info(row) for row in rows], next_cursor=cursor or v2.UNSET)


def _info(row: SessionRow) -> v2.SessionInfo:
    return v2.SessionInfo(
        session_id=row.id,
        cwd=row.cwd,
        additional_directories=list(row.more_roots) if row.more_roots else v2.UNSET,
        title=row.title or v2.UNSET,
        updated_at=iso_time(row.updated_at),
    )


METHOD = Method(v2.ListSessionsRequest, list_sessions)
