"""_hermes/board/show: a card with its text, questions, comments, result and history."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.board_cards import details_entry
from hermes_protocol import own


async def show_card(client: ClientConnection, params: own.BoardShowParams) -> own.BoardShowResult:
    """Return everything about a card. Raises BadRequest or StorageError."""
    service = client.app.board_service
    details = await service.show(params.board, params.id)
    return details_entry(details, (await service.board(params.board)).cards)


EXTENSION = Method(own.BoardShowParams, show_card, access="any")
