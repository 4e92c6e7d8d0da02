"""The parts shared by slash commands about cards: which board they address, who acts, and how a refusal is
reported.
"""

import getpass
from typing import TYPE_CHECKING

from hermes_acp.core.errors import HermesError
from hermes_acp.core.ports.boards.board_ports import Boards
from hermes_acp.core.ports.boards.card_actions import CardAction
from hermes_acp.core.ports.boards.cards import DEFAULT_BOARD, Actor, Card

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn


def person() -> Actor:
    """Return the actor for actions on boards: the user of this process."""
    return Actor("person", getpass.getuser())


def board_of(turn: "Turn") -> str:
    """Return the board of a session: the one that it shows, or the default one."""
    return turn.record.options.board or DEFAULT_BOARD


async def act_on_card(boards: Boards, board: str, action: CardAction) -> str:
    """Carry out an action of the user, and return its result, or why it is refused.

    If a card is ready, also say why no work on it starts, if so.
    """
    try:
        card = (await boards.act(board, action, person())).cards[0].card
        halted = (await boards.overview(board)).halted if card.state == "ready" else ""
    except HermesError as error:
        return error.sentence()
    return f"{in_words(card)} {halted}".rstrip()


def in_words(card: Card) -> str:
    """Return a card's state in words."""
    return f"Card {card.id}: {card.state.replace('_', ' ')}."
