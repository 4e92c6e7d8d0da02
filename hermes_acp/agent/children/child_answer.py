"""Build the result of a child turn for its parent: the last answer and, if the child did not finish, the reason."""

from typing import Final

from hermes_acp.core.events import TurnEnded
from hermes_acp.core.messages import AssistantMessage
from hermes_acp.core.proposals import Result
from hermes_acp.core.record.session_record import Record

MAX_ANSWER_CHARACTERS: Final = 16_000
UNFINISHED: Final = "[The child agent did not finish: {why}]"
CUT: Final = "\n[… {missing:,} more characters of this answer are in the session {child_id}]"


def child_result(record: Record, ended: TurnEnded) -> Result:
    """Return a child's answer and, if it did not finish, the reason."""
    answer = last_answer(record)
    if ended.reason == "done":
        return Result(answer)
    why = UNFINISHED.format(why=ended.sentence)
    return Result(f"{answer}\n{why}" if answer else why, is_error=True)


def last_answer(record: Record) -> str:
    """Return a child's last answer, cut at MAX_ANSWER_CHARACTERS."""
    said = (message.text for message in reversed(record.messages) if isinstance(message, AssistantMessage))
    answer = next((text for text in said if text.strip()), "")
    if (missing := len(answer) - MAX_ANSWER_CHARACTERS) > 0:
        return answer[:MAX_ANSWER_CHARACTERS] + CUT.format(missing=missing, child_id=record.session_id)
    return answer
