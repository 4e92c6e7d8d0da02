"""End a turn whose calls make no sense any more.

Knows: that steps without one understood call, several in a row, are the end. Does not know: what was wrong with them;
the model was told each time.
"""

from typing import Final

from hermes_acp.agent.endings import name_ending
from hermes_acp.agent.turn import MOST_STRIKES, Ending, Step, Turn

MISTAKE_CHARACTERS: Final = 200


async def count_strikes(turn: Turn, step: Step) -> Ending | None:
    """Count a step of calls none of which was understood; an understood one or words begin the count afresh."""
    if not step.outcomes:
        turn.strikes = 0 if step.reply.message.text.strip() else turn.strikes
        return None
    if any(outcome.is_understood for outcome in step.outcomes):
        turn.strikes = 0
        return None
    turn.strikes += 1
    if turn.strikes < MOST_STRIKES:
        return None
    mistake = _begin_of(step.outcomes[-1].text)
    return name_ending("bad_calls", f"{name_ending('bad_calls').sentence} The last mistake: {mistake}")


def _begin_of(text: str) -> str:
    """Give as many whole words of a text as a sentence can hold."""
    if len(text) <= MISTAKE_CHARACTERS:
        return text
    return f"{text[:MISTAKE_CHARACTERS].rpartition(' ')[0] or text[:MISTAKE_CHARACTERS]} …"
