"""End a turn that has used up what it may use.

Knows: the limits of a turn. Does not know: how the limits were chosen. Wall time is bounded around the whole turn.
"""

from hermes_acp.agent.turn import Ending, Turn


async def keep_within_budget(turn: Turn) -> Ending | None:
    """Stop before a step that the budget no longer covers."""
    limits, spent = turn.limits, turn.spent
    if spent.steps >= limits.max_steps:
        return Ending(
            "out_of_steps", f"Stopped after {spent.steps} steps, the limit of a turn.", "out_of_steps"
        )
    if limits.max_cost_usd is not None and spent.cost_usd >= limits.max_cost_usd:
        sentence = f"Stopped after ${spent.cost_usd:.4f}; the limit of a turn is ${limits.max_cost_usd:.4f}."
        return Ending("out_of_money", sentence, "out_of_money")
    return None
