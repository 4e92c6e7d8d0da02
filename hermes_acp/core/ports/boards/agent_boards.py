"""Boards, as the agent may see and change them."""

from collections.abc import Sequence
from typing import Protocol

from hermes_acp.core.ports.boards.board_views import CardView
from hermes_acp.core.ports.boards.card_actions import CardAction


class AgentBoards(Protocol):
    """The boards of a home folder, for the tools of its sessions. An empty name means the board of the session's
    card.
    """

    @property
    def place(self) -> str:
        """The path of the file that a change affects."""
        ...

    async def list(self, board: str, session_id: str) -> Sequence[CardView]:
        """List the cards of a board that are not done. Raises BadRequest or StorageError."""
        ...

    async def show(self, board: str, card_id: str, session_id: str) -> CardView:
        """Return a card; without an ID, the one that the session works on. Raises BadRequest or StorageError."""
        ...

    async def act(self, board: str, action: CardAction, session_id: str) -> CardView:
        """Carry out an action as the agent of a session, and return the card. Raises BadRequest or StorageError.

        An action without a card's ID is about the card that the session works on.
        """
        ...
