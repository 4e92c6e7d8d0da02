"""Judgements of edits told to every client that shows them, whoever judged.

Knows: the notification `_hermes/edits/judged` and the announcement of it. Does not know: who judges, what is drawn.
"""

from typing import Final

from hermes_acp.core.events import EditsJudged
from hermes_acp.core.reviews import Reviews
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.extensions import takes
from hermes_protocol import own

METHOD: Final = "_hermes/edits/judged"


def show_judgement(desk: Desk, session_id: str, reviews: Reviews, event: EditsJudged) -> None:
    """Tell how many hunks of the file are open, if the client's `_meta` holds `hermes.edits: true`."""
    if not takes(desk.announced, "edits"):
        return
    review = reviews.find(event.path)
    judged = own.EditsJudgedParams(
        session_id=session_id, path=event.path, open=len(review.hunks) if review else 0
    )
    desk.connection.notify(METHOD, judged)
