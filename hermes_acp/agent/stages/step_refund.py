"""Give back a step that only looked around.

Knows: that a step is free when every call of it was cheap, up to a limit. Does not know: which tools are cheap; each
says so of itself.
"""

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.agent.turn.turn_step import TurnStep


async def refund_cheap_step(turn: Turn, step: TurnStep) -> Ending | None:
    """Count a step as not taken when it made calls, understood all of them right, and all were cheap."""
    was_cheap = all(outcome.is_understood and outcome.is_cheap for outcome in step.outcomes)
    if step.outcomes and was_cheap and turn.spent.refunds < turn.limits.max_refunds:
        turn.spent.count_refund()
    return None
