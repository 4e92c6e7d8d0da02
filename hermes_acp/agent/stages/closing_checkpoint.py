"""After a turn: the state it leaves is kept."""

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending


async def close_checkpoint(turn: Turn, ending: Ending) -> None:
    """Keep what is there now, if the turn may have changed anything."""
    if turn.turn_checkpoints and not turn.delegator:
        await turn.turn_checkpoints.after()
