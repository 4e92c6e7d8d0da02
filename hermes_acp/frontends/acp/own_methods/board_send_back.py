"""_hermes/board/send_back: send a card back to work."""

from hermes_acp.core.ports.boards.card_actions import SendBackCard
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.board_cards import act_as_person
from hermes_protocol import own


async def send_back_card(
    client: ClientConnection, params: own.BoardSendBackParams
) -> own.BoardSendBackResult:
    """Send a card back to work. Raises BadRequest or StorageError."""
    action = SendBackCard(params.id, params.words)
    return own.BoardSendBackResult(cursor=await act_as_person(client, params.board, action))


EXTENSION = Method(own.BoardSendBackParams, send_back_card, access="any")
