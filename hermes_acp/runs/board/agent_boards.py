"""Let the agent's tools use boards: actions carry the agent's name, and the card it works on is the default."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.boards.board_views import CardView
from hermes_acp.core.ports.boards.card_actions import AddCard, CardAction
from hermes_acp.core.ports.boards.cards import DEFAULT_BOARD, STATES, Actor, Card
from hermes_acp.runs.board.board_reading import view_of
from hermes_acp.runs.board.board_rules import is_own, known
from hermes_acp.runs.board.board_service import BoardService

NO_CARD: Final = "This session is not working on a card. Name one."


class SessionBoards:
    """Reads and changes the boards of a home folder for its sessions."""

    def __init__(self, service: BoardService, place: str) -> None:
        self._service = service
        self.place = place

    async def list(self, board: str, session_id: str) -> Sequence[CardView]:
        """List the unfinished cards on a board. Raises BadRequest or StorageError."""
        name = board or await self._board_of(session_id)
        return await self._service.list(name, [state for state in STATES if state != "done"])

    async def show(self, board: str, card_id: str, session_id: str) -> CardView:
        """Return a card; without an ID, the one on which the session works. Raises BadRequest or StorageError."""
        name, card_id = await self._named(board, card_id, session_id)
        found = await self._service.board(name)
        return view_of(found, known(found, card_id))

    async def act(self, board: str, action: CardAction, session_id: str) -> CardView:
        """Carry out an action on behalf of a session's agent, and return the card.

        Raises BadRequest or StorageError.
        """
        if isinstance(action, AddCard):
            own = await self._own_card(session_id)
            name = board or (own[0] if own else DEFAULT_BOARD)
            action = _outside_worktree(action, own[1]) if own else action
        else:
            name, card_id = await self._named(board, getattr(action, "card_id", ""), session_id)
            action = replace(action, card_id=card_id)
        changes = await self._service.act(name, action, Actor("agent", session_id))
        return changes.cards[0]

    async def _named(self, board: str, card_id: str, session_id: str) -> tuple[str, str]:
        """Return the board and card to which an action refers. Raises BadRequest."""
        if card_id:
            return board or await self._board_of(session_id), card_id
        if own := await self._own_card(session_id):
            return own[0], own[1].id
        raise BadRequest(NO_CARD)

    async def _board_of(self, session_id: str) -> str:
        own = await self._own_card(session_id)
        return own[0] if own else DEFAULT_BOARD

    async def _own_card(self, session_id: str) -> tuple[str, Card] | None:
        """Return the card on which a session works, with its board, or None."""
        for name in await self._service.names():
            for card in (await self._service.board(name)).cards.values():
                if is_own(card, Actor("agent", session_id)) and card.state in ("running", "input_required"):
                    return name, card
        return None


def _outside_worktree(action: AddCard, own: Card) -> AddCard:
    """Return the action with the folder of the agent's card in place of that card's worktree, which is temporary."""
    return replace(action, work=replace(action.work, folder=own.work.folder))


def boards_for_agent(
    service: Callable[[], BoardService], folder: Path, *, are_shared: bool
) -> SessionBoards | None:
    """Return the boards for the agent's tools, or None if the home folder has none. Blocks.

    Shared boards are never looked up here, because another machine may add the first one at any time.
    """
    has_boards = are_shared or any(folder.glob("*/log.jsonl"))
    return SessionBoards(service(), str(folder)) if has_boards else None
