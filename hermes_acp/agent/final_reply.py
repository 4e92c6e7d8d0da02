"""What an answer without calls means for the turn.

Knows: that it is the end, unless it is empty or a message arrived meanwhile. Does not know: steps with calls.
"""

from typing import Final

from hermes_acp.agent.endings import name_ending
from hermes_acp.agent.turn import MOST_STRIKES, Ending, Turn
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.messages import ModelReply

NUDGE: Final = (
    "[Your last answer was empty. Go on with the work, or give your final answer to the user in words.]"
)


def judge_answer(turn: Turn, reply: ModelReply) -> Ending | None:
    """Name the ending that an answer is; None where the model is asked again. An empty one is a strike."""
    if reply.finish == "length":
        return name_ending("truncated")
    if reply.finish == "refusal":
        return name_ending("refused")
    if turn.inbox:
        return None
    if reply.message.text.strip():
        return name_ending("done")
    turn.strikes += 1
    if turn.strikes >= MOST_STRIKES:
        return name_ending("empty")
    turn.emit(NoteAdded(NUDGE))
    return None
