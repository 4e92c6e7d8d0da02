"""Helpers shared by the slash commands for cards: the addressed board, the actor, and error reporting."""

import getpass
from typing import TYPE_CHECKING

from hermes_acp.core.errors import HermesError
from hermes_acp.core.ports.boards.board_ports import Boards
from hermes_acp.core.ports.boards.card_actions import CardAction
from hermes_acp.core.ports.boards.cards import DEFAULT_BOARD, Actor, Card

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn


def person() -> Actor:
    """Return the actor for board actions: the user of this process."""
    return Actor("person", getpass.getuser())


def board_of(turn: "Turn") -> str:
    """Return the board that the session shows, or the default board."""
    return turn.record.options.board or DEFAULT_BOARD


async def act_on_card(boards: Boards, board: str, action: CardAction) -> str:
    """Carry out the user's action and return its result, or the reason for refusing it.

    If the card is now ready but work on the board is halted, the answer also says why.
    """
    try:
        card = (await boards.act(board, action, person())).cards[0].card
        halted = (await boards.overview(board)).halted if card.state == "ready" else ""
    except HermesError as error:
        return error.sentence()
    return f"{in_words(card)} {halted}".rstrip()


def in_words(card: Card) -> str:
    """Return a sentence with the card's state."""
    return f"Card {card.id}: {card.state.replace('_', ' ')}."
