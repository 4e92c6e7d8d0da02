"""Keep the turns of a process within the quota of the user for whom it works."""

from typing import Final

from msgspec import structs

from hermes_acp.agent.turn.turn import Turn, TurnStages
from hermes_acp.agent.turn.turn_endings import Ending, make_ending
from hermes_acp.core.ports.quota_ports import NoQuota, UserQuota

CODE: Final = "out_of_quota"


class QuotaStages:
    """Refuses turns and steps that exceed the quota, and reports the usage of turns."""

    def __init__(self, quota: UserQuota) -> None:
        """Create the stages; no turn has been counted yet."""
        self._quota = quota
        self._counted: dict[str, tuple[int, float]] = {}
        """The tokens and cost already reported for each running turn."""
        self._running: set[str] = set()
        """The running turns that someone prompted; turns that work for another turn are not counted."""

    def added_to(self, stages: TurnStages) -> TurnStages:
        """Wrap the given stages in the quota's own; without a quota, return them unchanged."""
        if isinstance(self._quota, NoQuota):
            return stages
        return structs.replace(
            stages,
            preflight=(self._begin, *stages.preflight),
            before_step=(*stages.before_step, self._keep_within),
            postflight=(*stages.postflight, self._close),
        )

    async def _begin(self, turn: Turn) -> Ending | None:
        if turn.origin.parent is None:
            if refusal := self._quota.refuse_turn(len(self._running)):
                return make_ending("out_of_tokens", refusal, CODE)
            self._running.add(turn.id)
        return None

    async def _keep_within(self, turn: Turn) -> Ending | None:
        self._report(turn)
        refusal = self._quota.refuse_step()
        return make_ending("out_of_tokens", refusal, CODE) if refusal else None

    async def _close(self, turn: Turn, ending: Ending) -> None:
        self._report(turn)
        self._counted.pop(turn.id, None)
        self._running.discard(turn.id)

    def _report(self, turn: Turn) -> None:
        """Report what a turn has used since the last report.

        A delegated turn's usage counts towards the turn that delegated it.
        """
        if turn.origin.delegator:
            return
        tokens, cost_usd = self._counted.get(turn.id, (0, 0.0))
        now_tokens, now_usd = turn.spent.usage.total_tokens, turn.spent.cost_usd or 0.0
        if (now_tokens, now_usd) != (tokens, cost_usd):
            self._quota.spend(now_tokens - tokens, now_usd - cost_usd)
            self._counted[turn.id] = now_tokens, now_usd
