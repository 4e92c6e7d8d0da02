"""Tell the user why a turn stopped early, if the protocol's stop reason does not say enough.

A failure has its own message; a turn that was completed, or stopped by the user, needs none.
"""

from typing import Final

from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_endings import Ending
from hermes_acp.core.event_types import ExitReason
from hermes_acp.core.events import Noticed

TOLD: Final[frozenset[ExitReason]] = frozenset(
    {"refused", "truncated", "out_of_steps", "out_of_tokens", "out_of_money", "out_of_time"}
)


async def show_ending(turn: Turn, ending: Ending) -> None:
    """Show the ending's sentence as the last notice of the turn."""
    if ending.reason in TOLD:
        turn.emit(Noticed("warning", ending.sentence))
