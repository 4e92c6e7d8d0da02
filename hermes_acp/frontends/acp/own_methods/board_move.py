"""_hermes/board/move: move a card to another state."""

from hermes_acp.core.ports.boards.card_actions import MoveCard
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.board_cards import act_as_person
from hermes_protocol import own


async def move_card(client: ClientConnection, params: own.BoardMoveParams) -> own.BoardMoveResult:
    """Move a card to another state. Raises BadRequest or StorageError."""
    action = MoveCard(params.id, params.to, params.reason)
    return own.BoardMoveResult(cursor=await act_as_person(client, params.board, action))


EXTENSION = Method(own.BoardMoveParams, move_card, access="any")
