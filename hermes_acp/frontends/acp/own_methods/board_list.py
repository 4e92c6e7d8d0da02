"""_hermes/board/list: the cards of a board, all or those changed after a cursor."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.board_cards import card_entry
from hermes_protocol import own


async def list_board(client: ClientConnection, params: own.BoardListParams) -> own.BoardListResult:
    """List the cards that have changed since a cursor. Raises BadRequest or StorageError."""
    service = client.app.board_service
    changes = await service.changes(params.board, params.after)
    board = changes.board
    return own.BoardListResult(
        boards=list(await service.names()),
        board=board.name,
        cursor=board.cursor,
        halted=board.halted,
        tokens=board.spent.tokens,
        cost_usd=board.spent.cost_usd,
        max_tokens=board.settings.max_tokens,
        max_cost_usd=board.settings.max_cost_usd,
        max_running=board.settings.max_running,
        cards=[card_entry(view) for view in changes.cards],
        removed=list(changes.removed),
    )


EXTENSION = Method(own.BoardListParams, list_board, access="any")
