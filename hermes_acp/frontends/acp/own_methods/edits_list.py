"""_hermes/edits/list: edits made without asking, edits waiting for an answer, and reviewed edits."""

from typing import Any

from hermes_acp.core.event_types import Diff, EditsJudged
from hermes_acp.core.hunks import Hunk
from hermes_acp.core.record.edit_reviews import Review, Reviews
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.sessions.edit_review import EditReview
from hermes_protocol import own


async def list_edits(client: ClientConnection, params: own.EditsListParams) -> own.EditsListResult:
    """List the edits, located in the current files. Raises SessionNotFound or StorageError."""
    session = client.session(params.session_id)
    files = await EditReview(session).look()
    reviews = session.record.reviews
    return own.EditsListResult(
        files=[_file(each) for each in files],
        waiting=_waiting(reviews),
        judged=[_judged(each) for each in reviews.judged] if params.include_judged else [],
    )


def _file(review: Review) -> own.EditsListFile:
    return own.EditsListFile(
        path=review.path,
        revision=review.revision,
        call_ids=list(review.call_ids),
        old_text=review.before,
        new_text=review.after,
        hunks=[own.EditsListFileHunk(**_lines(hunk)) for hunk in review.hunks],
    )


def _waiting(reviews: Reviews) -> list[own.EditsListWaiting]:
    return [
        own.EditsListWaiting(
            call_id=call.call_id, title=call.title, files=[_proposed(each) for each in call.diffs]
        )
        for call in reviews.waiting
    ]


def _proposed(diff: Diff) -> own.EditsListWaitingFile:
    after = None if diff.is_deleted else diff.new_text
    hunks = Review(diff.path, diff.old_text, after).hunks
    return own.EditsListWaitingFile(
        path=diff.path,
        old_text=diff.old_text,
        new_text=after,
        hunks=[own.EditsListWaitingFileHunk(**_lines(hunk)) for hunk in hunks],
    )


def _judged(event: EditsJudged) -> own.EditsListJudged:
    return own.EditsListJudged(
        path=event.path, verdict=event.verdict, hunks=len(event.spans), parts=list(event.parts)
    )


def _lines(hunk: Hunk) -> dict[str, Any]:
    return {
        "old_start": hunk.old_start,
        "old_lines": list(hunk.old_lines),
        "new_start": hunk.new_start,
        "new_lines": list(hunk.new_lines),
    }


EXTENSION = Method(own.EditsListParams, list_edits, access="view")
