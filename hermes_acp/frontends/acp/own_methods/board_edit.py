"""_hermes/board/edit: change a card's text or settings."""

from msgspec import UNSET

from hermes_acp.core.ports.boards.card_actions import EditCard
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.board_cards import act_as_person, changed_work
from hermes_protocol import own


async def edit_card(client: ClientConnection, params: own.BoardEditParams) -> own.BoardEditResult:
    """Change the fields of a card that the parameters contain. Raises BadRequest or StorageError."""
    details = await client.app.board_service.show(params.board, params.id)
    work = details.view.card.work
    wanted = changed_work(work, params)
    action = EditCard(
        params.id,
        None if params.title is UNSET else params.title,
        None if params.text is UNSET else params.text,
        wanted if wanted != work else None,
    )
    return own.BoardEditResult(cursor=await act_as_person(client, params.board, action))


EXTENSION = Method(own.BoardEditParams, edit_card, access="any")
