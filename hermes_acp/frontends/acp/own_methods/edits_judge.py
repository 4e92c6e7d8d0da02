"""_hermes/edits/judge: accept or reject edits that were made without a question, by hunk, by file, or all."""

from msgspec import UNSET

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.method import Method
from hermes_acp.sessions.reviewing import Judgement, Reviewing
from hermes_protocol import own


async def judge_edits(desk: Desk, params: own.EditsJudgeParams) -> own.EditsJudgeResult:
    """Judge them, and say how many hunks are open now.

    Raises NotFound, BadRequest for hunks there are not, WorkspaceTrouble, StorageTrouble.
    """
    session = desk.session(params.session_id)
    judgement = Judgement(
        params.verdict,
        None if params.hunks is UNSET else tuple(params.hunks),
        "" if params.revision is UNSET else params.revision,
        is_done=params.is_done,
    )
    await Reviewing(session).judge(None if params.path is UNSET else params.path, judgement)
    return own.EditsJudgeResult(open=sum(len(each.hunks) for each in session.record.reviews.open))


EXTENSION = Method(own.EditsJudgeParams, judge_edits)
