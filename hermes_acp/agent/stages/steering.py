"""Let messages that were sent during the turn steer it from its next step on.

Knows: that they become the user's words where they arrive. Does not know: who chose steering over queueing.
"""

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.events import UserSaid


async def steer_from_inbox(turn: Turn) -> Ending | None:
    """Put what came since the last step behind the history."""
    for letter in turn.inbox.read_all():
        turn.emit(UserSaid(turn.deps.ids.fresh("msg"), letter.parts))
    return None
