"""Add messages that arrive during a turn to its next step."""

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.events import UserSaid


async def steer_from_inbox(turn: Turn) -> Ending | None:
    """Append messages that arrived since the last step to the history as the user's words."""
    for message in turn.inbox.read_all():
        turn.emit(UserSaid(turn.deps.ids.fresh("msg"), message.parts))
    return None
