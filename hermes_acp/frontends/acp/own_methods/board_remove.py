"""_hermes/board/remove: remove a card from a board, or restore it."""

from hermes_acp.core.ports.boards.card_actions import RemoveCard, RestoreCard
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.board_cards import act_as_person
from hermes_protocol import own


async def remove_card(client: ClientConnection, params: own.BoardRemoveParams) -> own.BoardRemoveResult:
    """Remove or restore a card. Raises BadRequest or StorageError."""
    action = RestoreCard(params.id) if params.is_restored else RemoveCard(params.id)
    return own.BoardRemoveResult(cursor=await act_as_person(client, params.board, action))


EXTENSION = Method(own.BoardRemoveParams, remove_card, access="any")
