"""_hermes/board/add: add a card to a board."""

from msgspec import UNSET

from hermes_acp.core.ports.boards.card_actions import AddCard, LinkCard, MoveCard
from hermes_acp.core.ports.boards.cards import Actor, CardWork, Link
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.board_cards import changed_work
from hermes_protocol import own


async def add_card(client: ClientConnection, params: own.BoardAddParams) -> own.BoardAddResult:
    """Add a card, then the links from the cards that block it, in order. Raises BadRequest or StorageError."""
    service = client.app.board_service
    by = Actor("person", client.name)
    blockers = () if params.blocked_by is UNSET else tuple(dict.fromkeys(params.blocked_by))
    # A blocked card starts in the inbox, so that its run cannot start before the links exist.
    add = AddCard(
        params.title, params.text, "inbox" if blockers else params.to, changed_work(CardWork(), params)
    )
    changes = await service.act(params.board, add, by)
    card_id = changes.cards[0].card.id
    for blocker in blockers:
        changes = await service.act(params.board, LinkCard(blocker, Link("blocks", card_id)), by)
    if blockers and params.to == "ready":
        changes = await service.act(params.board, MoveCard(card_id, "ready"), by)
    return own.BoardAddResult(cursor=changes.board.cursor, id=card_id)


EXTENSION = Method(own.BoardAddParams, add_card, access="any")
