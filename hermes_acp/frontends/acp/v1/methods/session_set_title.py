"""session/set_title: rename a session."""

from typing import Final

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import errors
from hermes_protocol import v1

MAX_CHARACTERS: Final = 200


async def set_title(
    client: ClientConnection, params: v1.SetSessionTitleRequest
) -> v1.SetSessionTitleResponse:
    """Store the title on one line and answer with it. Raises SessionNotFound, Busy or BadRequest."""
    title = " ".join(params.title.split())[:MAX_CHARACTERS].rstrip()
    if not title:
        raise BadRequest(errors.EMPTY_TITLE, hint=errors.EMPTY_TITLE_HINT)
    await client.app.session_admin.rename(params.session_id, title)
    return v1.SetSessionTitleResponse(title=title)


METHOD = Method(v1.SetSessionTitleRequest, set_title, is_unstable=True)
