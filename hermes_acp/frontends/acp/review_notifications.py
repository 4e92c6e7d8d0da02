"""Judgements of edits told to every client that shows them, whoever judged.

Knows: the notification `_hermes/edits/judged` and the announcement of it. Does not know: who judges, what is drawn.
"""

from typing import Final

from hermes_acp.core.events import EditsJudged
from hermes_acp.core.record.edit_reviews import Reviews
from hermes_acp.frontends.acp.client_connection import ClientConnection
from hermes_acp.frontends.acp.meta_extensions import takes
from hermes_protocol import own

METHOD: Final = "_hermes/edits/judged"


def notify_review(client: ClientConnection, session_id: str, reviews: Reviews, event: EditsJudged) -> None:
    """Tell how many hunks of the file are open, if the client's `_meta` holds `hermes.edits: true`."""
    if not takes(client.announced, "edits"):
        return
    review = reviews.find(event.path)
    judged = own.EditsJudgedParams(
        session_id=session_id, path=event.path, open=len(review.hunks) if review else 0
    )
    client.connection.notify(METHOD, judged)
