"""The port through which the agent sees and changes boards."""

from collections.abc import Sequence
from typing import Protocol

from hermes_acp.core.ports.boards.board_views import CardView
from hermes_acp.core.ports.boards.card_actions import CardAction


class AgentBoards(Protocol):
    """The boards of a home folder, for the tools of its sessions.

    An empty board name means the board of the session's card.
    """

    @property
    def place(self) -> str:
        """The path of the file that a change affects."""
        ...

    async def list(self, board: str, session_id: str) -> Sequence[CardView]:
        """List the unfinished cards on a board. Raises BadRequest or StorageError."""
        ...

    async def show(self, board: str, card_id: str, session_id: str) -> CardView:
        """Return a card; without an ID, the one on which the session works. Raises BadRequest or StorageError."""
        ...

    async def act(self, board: str, action: CardAction, session_id: str) -> CardView:
        """Carry out an action on behalf of a session's agent, and return the card. Raises BadRequest or StorageError.

        An action without a card ID applies to the card on which the session works.
        """
        ...
