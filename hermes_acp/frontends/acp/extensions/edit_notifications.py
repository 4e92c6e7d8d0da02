"""Notify clients that display them of draft edits and of reviewed edits.

The notifications are `_hermes/edits/draft` and `_hermes/edits/judged`.
"""

from typing import Final

from msgspec import UNSET

from hermes_acp.core.event_types import EditsJudged
from hermes_acp.core.events import EditDrafted, Event
from hermes_acp.core.record.edit_reviews import Reviews
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.extensions.meta_extensions import takes
from hermes_protocol import own

DRAFT: Final = "_hermes/edits/draft"
JUDGED: Final = "_hermes/edits/judged"


def notify_edits(client: ClientConnection, session_id: str, reviews: Reviews, event: Event) -> None:
    """Notify the client of an event about edits, if the `_meta` of its capabilities announces support.

    A draft needs `hermes.drafts: true`; a review needs `hermes.edits: true` and includes the number of open hunks.
    """
    if isinstance(event, EditDrafted) and takes(client.announced, "drafts"):
        draft = own.EditsDraftParams(
            session_id=session_id,
            call_id=event.call_id,
            path=event.path,
            new_text=event.new_text,
            is_whole=event.is_whole,
            old_text=UNSET if event.old_text is None else event.old_text,
        )
        client.connection.notify(DRAFT, draft)
    elif isinstance(event, EditsJudged) and takes(client.announced, "edits"):
        review = reviews.find(event.path)
        open_hunks = len(review.hunks) if review else 0
        judged = own.EditsJudgedParams(session_id=session_id, path=event.path, open=open_hunks)
        client.connection.notify(JUDGED, judged)
