"""`/park`: stop the work on a card."""

from typing import TYPE_CHECKING, Final

from hermes_acp.core.ports.boards.card_actions import ParkCard
from hermes_acp.sessions.builtin_commands import CommandServices, PromptCommand
from hermes_acp.sessions.card_commands import act_on_card, board_of

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn

USAGE: Final = "Name the card: `/park CARD WHY`."


async def run(services: CommandServices, turn: "Turn", words: str) -> str:
    """Park a card; if that is refused, return the reason."""
    card, _, reason = words.strip().partition(" ")
    if not card:
        return USAGE
    return await act_on_card(services.boards(), board_of(turn), ParkCard(card, reason.strip()))


COMMAND = PromptCommand("Stop the work on a card until you move it to ready", "CARD and why", run)
