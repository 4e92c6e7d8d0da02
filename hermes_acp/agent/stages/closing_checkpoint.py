"""After a turn: the state it leaves is kept."""

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending


async def close_checkpoint(turn: Turn, ending: Ending) -> None:
    """Keep what is there now, if the turn may have changed anything."""
    if turn.calls.checkpoints and not turn.origin.delegator:
        await turn.calls.checkpoints.after()
