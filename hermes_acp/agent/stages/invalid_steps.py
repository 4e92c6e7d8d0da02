"""End a turn after several consecutive steps without a valid call."""

from typing import Final

from hermes_acp.agent.turn.turn import MAX_INVALID_STEPS, Turn
from hermes_acp.agent.turn.turn_endings import Ending, make_ending
from hermes_acp.agent.turn.turn_step import TurnStep

MAX_MISTAKE_CHARACTERS: Final = 200


async def count_invalid_steps(turn: Turn, step: TurnStep) -> Ending | None:
    """Count a step without a valid call; a valid call or text resets the count."""
    if not step.outcomes:
        turn.guards.invalid_steps = 0 if step.reply.message.text.strip() else turn.guards.invalid_steps
        return None
    if any(outcome.is_understood for outcome in step.outcomes):
        turn.guards.invalid_steps = 0
        return None
    turn.guards.invalid_steps += 1
    if turn.guards.invalid_steps < MAX_INVALID_STEPS:
        return None
    mistake = _excerpt(step.outcomes[-1].text)
    return make_ending("bad_calls", f"{make_ending('bad_calls').sentence} The last error: {mistake}")


def _excerpt(text: str) -> str:
    """Return as many words from the start of a text as fit into a sentence."""
    if len(text) <= MAX_MISTAKE_CHARACTERS:
        return text
    return f"{text[:MAX_MISTAKE_CHARACTERS].rpartition(' ')[0] or text[:MAX_MISTAKE_CHARACTERS]} …"
