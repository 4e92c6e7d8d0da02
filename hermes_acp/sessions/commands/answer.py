"""`/answer`: answer the question of a card."""

from typing import TYPE_CHECKING, Final

from hermes_acp.core.errors import HermesError
from hermes_acp.sessions.builtin_commands import CommandServices, PromptCommand
from hermes_acp.sessions.card_commands import board_of, in_words, person

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn

USAGE: Final = "Name the card and the answer: `/answer CARD allow`, `deny`, or words."


async def run(services: CommandServices, turn: "Turn", words: str) -> str:
    """Answer the question with allow, deny or text; if that is refused, return the reason."""
    card, _, text = words.strip().partition(" ")
    if not text.strip():
        return USAGE
    boards, board = services.boards(), board_of(turn)
    try:
        await boards.answer(board, card, text.strip(), person())
        return in_words((await boards.view(board, card)).card)
    except HermesError as error:
        return error.sentence()


COMMAND = PromptCommand("Answer the question of a card", "CARD allow, deny, or words", run)
