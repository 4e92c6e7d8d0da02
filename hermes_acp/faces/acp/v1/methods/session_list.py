"""session/list: what can be loaded, newest first."""

import base64
import binascii
import os
from datetime import UTC, datetime

import msgspec

from hermes_acp.core.errors import BadRequest
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.storage.sessions import PAGE, SessionRow
from hermes_protocol import v1


async def list_sessions(desk: Desk, params: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
    """Give one page, and a cursor while there may be more. Raises BadRequest for a cursor that is none of ours."""
    after = _read_cursor(params.cursor) if params.cursor else None
    rows = await desk.house.sessions.page(os.path.normpath(params.cwd) if params.cwd else None, after)
    return v1.ListSessionsResponse(
        sessions=[_info(row) for row in rows],
        next_cursor=_write_cursor(rows[-1]) if len(rows) == PAGE else v1.UNSET,
    )


def _info(row: SessionRow) -> v1.SessionInfo:
    return v1.SessionInfo(
        session_id=row.id,
        cwd=row.cwd,
        title=row.title or v1.UNSET,
        updated_at=datetime.fromtimestamp(row.updated_at, UTC).isoformat().replace("+00:00", "Z"),
    )


METHOD = Method(v1.ListSessionsRequest, list_sessions)
