"""Decide whether an answer without tool calls ends the turn: not if it is empty or a new message has arrived."""

from typing import Final

from hermes_acp.agent.turn.turn import MAX_INVALID_STEPS, Turn
from hermes_acp.agent.turn.turn_endings import Ending, make_ending
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.messages import ModelReply

NUDGE: Final = (
    "[Your last answer was empty. Continue the work, or give your final answer to the user in words.]"
)


def ending_for_reply(turn: Turn, reply: ModelReply) -> Ending | None:
    """Return how an answer ends the turn, or None if the model must be asked again.

    An empty answer counts as an invalid step.
    """
    if reply.finish == "length":
        return make_ending("truncated")
    if reply.finish == "refusal":
        return make_ending("refused")
    if turn.inbox:
        return None
    if reply.message.text.strip():
        return make_ending("done")
    turn.guards.invalid_steps += 1
    if turn.guards.invalid_steps >= MAX_INVALID_STEPS:
        return make_ending("empty")
    turn.emit(NoteAdded(NUDGE))
    return None
