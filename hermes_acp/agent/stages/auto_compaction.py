"""Compact the history before a step when too much of the model's window is in use.

After a failure, compaction is not retried in the same turn. If a request is rejected for its length, the step itself
compacts the history.
"""

from hermes_acp.agent.compaction.history_compaction import compact
from hermes_acp.agent.compaction.token_estimates import tokens_in_use
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.errors import ModelError


async def keep_within_window(turn: Turn) -> Ending | None:
    """Compact the history if the next request would exceed the configured share of the window.

    A failure leaves the history unchanged.
    """
    share = turn.deps.model_use.shares.at
    if share is None or turn.guards.has_failed_to_compact:
        return None
    if tokens_in_use(turn.record, turn.deps.toolbox.schemas) >= share * turn.route.window_tokens:
        try:
            await compact(turn, "window")
        except ModelError:
            turn.guards.has_failed_to_compact = True
    return None
