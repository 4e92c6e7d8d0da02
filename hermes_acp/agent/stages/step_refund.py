"""Refund a step whose calls were all cheap, up to a limit."""

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.agent.turn.turn_step import TurnStep


async def refund_cheap_step(turn: Turn, step: TurnStep) -> Ending | None:
    """Refund a step in which every call was valid and cheap; a step without calls is not refunded."""
    was_cheap = all(outcome.is_understood and outcome.is_cheap for outcome in step.outcomes)
    if step.outcomes and was_cheap and turn.spent.refunds < turn.limits.max_refunds:
        turn.spent.count_refund()
    return None
