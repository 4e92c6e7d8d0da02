"""_hermes/edits/judge: accept or reject edits made without asking, by hunk, by file, or all at once."""

from msgspec import UNSET

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.sessions.edit_review import EditReview, ReviewDecision
from hermes_protocol import own


async def judge_edits(client: ClientConnection, params: own.EditsJudgeParams) -> own.EditsJudgeResult:
    """Accept or reject the edits, and return how many hunks are still open.

    Raises SessionNotFound, BadRequest for unknown hunks, WorkspaceError, or StorageError.
    """
    session = client.session(params.session_id)
    judgement = ReviewDecision(
        params.verdict,
        None if params.hunks is UNSET else tuple(params.hunks),
        "" if params.revision is UNSET else params.revision,
        is_done=params.is_done,
    )
    await EditReview(session).judge(None if params.path is UNSET else params.path, judgement)
    return own.EditsJudgeResult(open=sum(len(each.hunks) for each in session.record.reviews.open))


EXTENSION = Method(own.EditsJudgeParams, judge_edits)
