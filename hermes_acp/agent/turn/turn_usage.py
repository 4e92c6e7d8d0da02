"""The usage of a turn so far."""

from hermes_acp.core.messages import Usage


class TurnUsage:
    """The usage of a turn so far, including its child agents; `cost_usd` stays None until a step has a known price."""

    def __init__(self, started_at_s: float, delegator: "TurnUsage | None" = None) -> None:
        self._delegator = delegator
        self.started_at_s = started_at_s
        self.steps = 0
        self.refunds = 0
        self.cost_usd: float | None = None
        self.usage = Usage()

    def add(self, usage: Usage, cost_usd: float | None) -> None:
        """Count the usage of one step."""
        self.charge(usage, cost_usd)
        self._count()

    def _count(self) -> None:
        self.steps += 1
        if self._delegator:
            self._delegator._count()

    def charge(self, usage: Usage, cost_usd: float | None) -> None:
        """Count usage that belongs to no step."""
        if cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + cost_usd
        self.usage += usage
        if self._delegator:
            self._delegator.charge(usage, cost_usd)

    def include(self, steps: int, usage: Usage, cost_usd: float | None) -> None:
        """Count the usage of a child agent in another process."""
        self.charge(usage, cost_usd)
        for _ in range(steps):
            self._count()

    def count_refund(self) -> None:
        """Refund the last step."""
        self.refunds += 1
        if self._delegator:
            self._delegator.count_refund()
