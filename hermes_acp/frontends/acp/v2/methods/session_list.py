"""session/list: the sessions that can be resumed, newest first."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.session_setup.session_pages import page_of
from hermes_acp.frontends.acp.translation.timestamps import iso_time
from hermes_acp.storage.session_rows import SessionRow
from hermes_protocol import v2


async def list_sessions(client: ClientConnection, params: v2.ListSessionsRequest) -> v2.ListSessionsResponse:
    """Return one page, and a cursor while there may be more. Raises BadRequest for an invalid cursor."""
    rows, cursor = await page_of(client, params.cwd or None, params.cursor or None)
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
