"""The history of a run, read from its session's record, which survives every interruption."""

from collections.abc import Iterable

from msgspec import Struct, structs

from hermes_acp.core.events import (
    Event,
    StepEnded,
    StepFailed,
    TextSaid,
    TurnEnded,
    TurnStarted,
    UsageChanged,
    UserSaid,
)
from hermes_acp.core.ports.run_ports import RunBudget


class RunHistory(Struct, frozen=True):
    """The turns of a run: whether its prompt is in the record, how its last turn ended, and the total usage.

    `is_last` means that nobody else has started a turn since; `is_priced`, that the price of the model is known.
    `interruptions` counts how often a turn was interrupted, by a kill or a shutdown, and resumed.
    """

    is_prompted: bool = False
    is_last: bool = False
    end: TurnEnded | None = None
    steps: int = 0
    tokens: int = 0
    cost_usd: float = 0.0
    is_priced: bool = False
    interruptions: int = 0

    def left_of(self, budget: RunBudget) -> RunBudget | None:
        """Return the remaining budget, or None if a limit is used up."""
        left = structs.replace(
            budget,
            max_steps=None if budget.max_steps is None else budget.max_steps - self.steps,
            max_tokens=None if budget.max_tokens is None else budget.max_tokens - self.tokens,
            max_cost_usd=None if budget.max_cost_usd is None else budget.max_cost_usd - self.cost_usd,
        )
        used_up = any(each is not None and each <= 0 for each in structs.astuple(left))
        return None if used_up else left


def history_of(events: Iterable[Event], run_id: str) -> RunHistory:
    """Derive a run's history from the record."""
    history, is_own, total_usd = RunHistory(), False, 0.0
    for event in events:
        if isinstance(event, TurnStarted):
            is_own = event.run_id == run_id
            was_cut = (
                is_own and history.is_prompted and (history.end is None or history.end.reason == "cancelled")
            )
            history = structs.replace(
                history,
                is_last=is_own,
                end=None if is_own else history.end,
                interruptions=history.interruptions + was_cut,
            )
        elif isinstance(event, UsageChanged):
            spent, total_usd = (event.cost_usd or 0.0) - total_usd, event.cost_usd or 0.0
            if is_own:
                history = structs.replace(
                    history,
                    cost_usd=history.cost_usd + max(0.0, spent),
                    is_priced=event.cost_usd is not None,
                )
        elif not is_own:
            continue
        elif isinstance(event, UserSaid):
            history = structs.replace(history, is_prompted=True)
        elif isinstance(event, StepEnded):
            tokens = history.tokens + event.usage.total_tokens
            history = structs.replace(history, steps=history.steps + 1, tokens=tokens)
        elif isinstance(event, TurnEnded):
            history = structs.replace(history, end=event)
    return history


def answer_of(events: Iterable[Event], run_id: str) -> str:
    """Return the agent's last message in a run, or an empty string."""
    answer, is_own = "", False
    words: list[str] = []
    for event in events:
        if isinstance(event, TurnStarted):
            is_own = event.run_id == run_id
        elif not is_own:
            continue
        elif isinstance(event, TextSaid):
            words.append(event.text)
        elif isinstance(event, StepFailed) and event.retried:
            words.clear()
        elif isinstance(event, StepEnded | StepFailed | TurnEnded):
            answer = "".join(words) or answer
            words.clear()
    return answer
