"""_hermes/board/approve: accept the result of a card."""

from hermes_acp.core.ports.boards.card_actions import ApproveCard
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.board_cards import act_as_person
from hermes_protocol import own


async def approve_card(client: ClientConnection, params: own.BoardApproveParams) -> own.BoardApproveResult:
    """Accept the result of a card. Raises BadRequest or StorageError."""
    action = ApproveCard(params.id, params.comment)
    return own.BoardApproveResult(cursor=await act_as_person(client, params.board, action))


EXTENSION = Method(own.BoardApproveParams, approve_card, access="any")
