"""Store the state of the workspace after a turn."""

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending


async def close_checkpoint(turn: Turn, ending: Ending) -> None:
    """Store the current state if the turn may have changed anything."""
    if turn.calls.checkpoints and not turn.depth:
        await turn.calls.checkpoints.after()
