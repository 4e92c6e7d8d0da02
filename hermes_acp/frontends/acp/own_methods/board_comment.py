"""_hermes/board/comment: add a comment to a card."""

from hermes_acp.core.ports.boards.card_actions import CommentOnCard
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.board_cards import act_as_person
from hermes_protocol import own


async def comment_card(client: ClientConnection, params: own.BoardCommentParams) -> own.BoardCommentResult:
    """Add a comment to a card. Raises BadRequest or StorageError."""
    action = CommentOnCard(params.id, params.text)
    return own.BoardCommentResult(cursor=await act_as_person(client, params.board, action))


EXTENSION = Method(own.BoardCommentParams, comment_card, access="any")
