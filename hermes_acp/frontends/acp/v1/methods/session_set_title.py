"""session/set_title: give a session a title of the user's own."""

from typing import Final

from hermes_acp.core.errors import BadRequest
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_protocol import v1

MOST_CHARACTERS: Final = 200


async def set_title(desk: Desk, params: v1.SetSessionTitleRequest) -> v1.SetSessionTitleResponse:
    """Store the title on one line and answer with it as it was stored. Raises NotFound, Busy, BadRequest."""
    title = " ".join(params.title.split())[:MOST_CHARACTERS].rstrip()
    if not title:
        raise BadRequest("The title is empty.", hint="Write something.")
    await desk.house.registrar.rename(params.session_id, title)
    return v1.SetSessionTitleResponse(title=title)


METHOD = Method(v1.SetSessionTitleRequest, set_title, is_unstable=True)
