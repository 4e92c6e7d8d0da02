"""End a turn that has used up its budget with a final answer.

The last tenth of its time, at most half a minute, is reserved for that answer. The turn runner enforces the total time.
"""

from hermes_acp.agent.loop.final_answer import ask_for_final_answer
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending, make_ending
from hermes_acp.agent.turn.turn_limits import TurnLimits
from hermes_acp.agent.turn.turn_usage import TurnUsage
from hermes_acp.core.events import Noticed


async def report_unknown_price(turn: Turn) -> Ending | None:
    """Warn that a cost limit cannot be enforced because the model's price is unknown."""
    limit_usd = turn.limits.max_cost_usd
    if limit_usd is not None and turn.route.facts.input_usd is None:
        model = turn.route.model
        turn.emit(
            Noticed(
                "warning",
                f"The price of {model} is not known, so the limit of ${_money(limit_usd)} cannot be enforced. "
                f"Set the price in config.yaml: `models: {{{model}: {{input_usd: …, output_usd: …}}}}`.",
            )
        )
    return None


async def keep_within_budget(turn: Turn) -> Ending | None:
    """Stop before a step that the budget does not cover, after asking for a final answer."""
    ending = used_up(turn.limits, turn.spent, turn.deps.clock.monotonic())
    if ending:
        await ask_for_final_answer(turn)
    return ending


def used_up(limits: TurnLimits, spent: TurnUsage, now_s: float) -> Ending | None:
    """Return the ending for the limit that has been reached, or None. Refunded steps do not count."""
    counted = spent.steps - spent.refunds
    if limits.max_steps is not None and counted >= limits.max_steps:
        return make_ending(
            "out_of_steps", f"Stopped after {_steps(counted)}; the limit per turn is {limits.max_steps}."
        )
    tokens = spent.usage.total_tokens
    if limits.max_tokens is not None and tokens >= limits.max_tokens:
        return make_ending(
            "out_of_tokens", f"Stopped after {tokens:,} tokens; the limit per turn is {limits.max_tokens:,}."
        )
    cost_usd = spent.cost_usd or 0.0
    if limits.max_cost_usd is not None and cost_usd >= limits.max_cost_usd:
        return make_ending(
            "out_of_money",
            f"Stopped after ${_money(cost_usd)}; the limit per turn is ${_money(limits.max_cost_usd)}.",
        )
    passed_s = now_s - spent.started_at_s
    if limits.working_s is not None and passed_s >= limits.working_s:
        return make_ending(
            "out_of_time", f"Stopped after {passed_s:.0f} s; the limit per turn is {limits.timeout_s:g} s."
        )
    return None


def _steps(number: int) -> str:
    return "1 step" if number == 1 else f"{number} steps"


def _money(usd: float) -> str:
    """Format an amount in dollars with only as many decimal places as are significant."""
    return f"{usd:.2f}" if usd >= 1 else f"{usd:.8f}".rstrip("0").rstrip(".")
