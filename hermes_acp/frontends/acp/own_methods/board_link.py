"""_hermes/board/link: add a link between cards, or remove one."""

from hermes_acp.core.ports.boards.card_actions import LinkCard
from hermes_acp.core.ports.boards.cards import Link
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.board_cards import act_as_person
from hermes_protocol import own


async def link_card(client: ClientConnection, params: own.BoardLinkParams) -> own.BoardLinkResult:
    """Add a link between cards, or remove one. Raises BadRequest or StorageError."""
    action = LinkCard(params.id, Link(params.kind, params.card_id), params.is_removed)
    return own.BoardLinkResult(cursor=await act_as_person(client, params.board, action))


EXTENSION = Method(own.BoardLinkParams, link_card, access="any")
