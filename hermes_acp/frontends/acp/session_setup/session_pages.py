"""Divide the session list into pages.

Cursors are the same in every protocol version.
"""

import base64
import binascii
import os

import msgspec

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.storage.session_rows import SessionRow
from hermes_acp.storage.session_store import PAGE, ArchiveFilter


async def page_of(
    client: ClientConnection, cwd: str | None, cursor: str | None, archived: ArchiveFilter = "exclude"
) -> tuple[list[SessionRow], str | None]:
    """Return one page, and a cursor if there may be more. Raises BadRequest for an invalid cursor."""
    after = _read_cursor(cursor) if cursor else None
    rows = await client.app.sessions.page(os.path.normpath(cwd) if cwd else None, after, archived)
    return rows, _write_cursor(rows[-1]) if len(rows) == PAGE else None


def _write_cursor(row: SessionRow) -> str:
    return base64.urlsafe_b64encode(msgspec.json.encode((row.updated_at, row.id))).decode()


def _read_cursor(cursor: str) -> tuple[float, str]:
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(cursor), type=tuple[float, str])
    except (binascii.Error, ValueError) as error:
        raise BadRequest(errors.BAD_CURSOR, hint=errors.BAD_CURSOR_HINT) from error
