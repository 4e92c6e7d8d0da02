"""_hermes/board/park: stop the work on a card."""

from hermes_acp.core.ports.boards.card_actions import ParkCard
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.board_cards import act_as_person
from hermes_protocol import own


async def park_card(client: ClientConnection, params: own.BoardParkParams) -> own.BoardParkResult:
    """Stop the work on a card. Raises BadRequest or StorageError."""
    action = ParkCard(params.id, params.reason)
    return own.BoardParkResult(cursor=await act_as_person(client, params.board, action))


EXTENSION = Method(own.BoardParkParams, park_card, access="any")
