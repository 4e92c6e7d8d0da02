"""_hermes/board/watch: notify this client of changes to a board until it cancels the request."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import own

CHANGED = "_hermes/board/changed"


async def watch_board(client: ClientConnection, params: own.BoardWatchParams) -> own.BoardWatchResult:
    """Report each change since a cursor. Raises BadRequest or StorageError."""
    cursor = params.after
    async with client.app.board_service.watch(params.board, cursor) as changes:
        async for change in changes:
            cursor = change.board.cursor
            client.connection.notify(CHANGED, own.BoardChangedParams(board=params.board, cursor=cursor))
    return own.BoardWatchResult(cursor=cursor)


EXTENSION = Method(own.BoardWatchParams, watch_board, access="any")
