"""Divide a batch's budget among its running lines, so that their total stays within it."""

from typing import Final, TypeVar

from msgspec import Struct, structs

from hermes_acp.core.ports.run_ports import RunBudget

MIN_SHARE_USD: Final = 1e-9
Number = TypeVar("Number", int, float)


class BatchBudget(Struct, frozen=True):
    """The limits for all lines of a batch together. None means no limit."""

    max_tokens: int | None = None
    max_cost_usd: float | None = None


class BudgetShares:
    """Reserves a share for each line that is started. The unused part of a share returns to the other lines."""

    def __init__(self, budget: BatchBudget, *, tokens: int = 0, cost_usd: float = 0.0) -> None:
        """Start with the `tokens` and `cost_usd` that have already been used."""
        self._budget = budget
        self.tokens = tokens
        self.cost_usd = cost_usd
        self._lent: dict[str, RunBudget] = {}

    @property
    def is_used_up(self) -> bool:
        """Whether the finished lines have used the whole budget."""
        limit, limit_usd = self._budget.max_tokens, self._budget.max_cost_usd
        return (limit is not None and self.tokens >= limit) or (
            limit_usd is not None and self.cost_usd >= limit_usd
        )

    def reserve_share(self, run_id: str, wanted: RunBudget, seats: int) -> RunBudget | None:
        """Return the budget for a new run, or None if nothing is left until another run ends.

        It is at most the remaining budget divided by the number of free `seats`.
        """
        left = self._left()
        if (left.max_tokens is not None and left.max_tokens < 1) or (
            left.max_cost_usd is not None and left.max_cost_usd < MIN_SHARE_USD
        ):
            return None
        tokens = None if left.max_tokens is None else max(1, left.max_tokens // seats)
        cost_usd = None if left.max_cost_usd is None else left.max_cost_usd / seats
        lent = structs.replace(
            wanted,
            max_tokens=_smaller(wanted.max_tokens, tokens),
            max_cost_usd=_smaller(wanted.max_cost_usd, cost_usd),
        )
        self.keep(run_id, lent)
        return lent

    def keep(self, run_id: str, budget: RunBudget) -> None:
        """Reserve the budget for a run that was started earlier."""
        self._lent[run_id] = budget

    def settle(self, run_id: str, tokens: int, cost_usd: float | None) -> None:
        """Count what a run has used, and release the rest of its share."""
        self._lent.pop(run_id, None)
        self.tokens += tokens
        self.cost_usd += cost_usd or 0.0

    def _left(self) -> BatchBudget:
        limit, limit_usd = self._budget.max_tokens, self._budget.max_cost_usd
        lent = self._lent.values()
        return BatchBudget(
            None if limit is None else limit - self.tokens - sum(each.max_tokens or 0 for each in lent),
            None
            if limit_usd is None
            else limit_usd - self.cost_usd - sum(each.max_cost_usd or 0.0 for each in lent),
        )


def _smaller(one: Number | None, other: Number | None) -> Number | None:
    if one is None or other is None:
        return other if one is None else one
    return min(one, other)
