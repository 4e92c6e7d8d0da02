"""_hermes/board/answer: answer the open question of a card's run."""

from hermes_acp.core.ports.boards.card_actions import AnswerCard
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.board_cards import act_as_person
from hermes_protocol import own


async def answer_card(client: ClientConnection, params: own.BoardAnswerParams) -> own.BoardAnswerResult:
    """Answer the open question of a card's run. Raises BadRequest or StorageError."""
    action = AnswerCard(
        params.id, "allow_once" if params.is_allowed else "reject_once", params.text, params.call_id
    )
    return own.BoardAnswerResult(cursor=await act_as_person(client, params.board, action))


EXTENSION = Method(own.BoardAnswerParams, answer_card, access="any")
