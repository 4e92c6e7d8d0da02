"""Compact the history before a step when too much of the model's window is in use.

After a failure it is not tried again in the same turn. A request that is refused for its length is compacted in the
step itself.
"""

from hermes_acp.agent.compaction.history_compaction import compact
from hermes_acp.agent.compaction.token_estimates import tokens_in_use
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.errors import ModelError


async def keep_within_window(turn: Turn) -> Ending | None:
    """Compact where the next request would take more than the configured share of the window.

    A failure leaves the history as it was.
    """
    share = turn.deps.model_use.shares.at
    if share is None or turn.guards.has_failed_to_compact:
        return None
    if tokens_in_use(turn.record, turn.deps.toolbox.schemas) >= share * turn.route.facts.window_tokens:
        try:
            await compact(turn, "window")
        except ModelError:
            turn.guards.has_failed_to_compact = True
    return None
