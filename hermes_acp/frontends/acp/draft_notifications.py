"""Edits told while they are written, to clients that draw them.

Knows: the notification `_hermes/edits/draft` and the announcement of it. Does not know: who writes, what is drawn.
"""

from typing import Final

from msgspec import UNSET

from hermes_acp.core.events import EditDrafted
from hermes_acp.frontends.acp.client_connection import ClientConnection
from hermes_acp.frontends.acp.meta_extensions import takes
from hermes_protocol import own

METHOD: Final = "_hermes/edits/draft"


def notify_draft(client: ClientConnection, session_id: str, event: EditDrafted) -> None:
    """Tell it, if the `_meta` of the client's capabilities holds `hermes.drafts: true`."""
    if not takes(client.announced, "drafts"):
        return
    draft = own.EditsDraftParams(
        session_id=session_id,
        call_id=event.call_id,
        path=event.path,
        new_text=event.new_text,
        is_whole=event.is_whole,
        old_text=UNSET if event.old_text is None else event.old_text,
    )
    client.connection.notify(METHOD, draft)
