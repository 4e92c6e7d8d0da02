"""Build views of a board, with pure functions of its current state."""

from collections.abc import Collection, Iterable
from types import MappingProxyType
from typing import Final

from hermes_acp.core.ports.boards.board_views import BoardChanges, BoardView, CardView
from hermes_acp.core.ports.boards.cards import STATES, Card, CardState
from hermes_acp.runs.board import board_messages
from hermes_acp.runs.board.board_fold import Board
from hermes_acp.runs.board.card_links import awaited

ORDER: Final[tuple[CardState, ...]] = (
    *("input_required", "review", "merging", "running"),
    *("ready", "inbox", "parked", "done"),
)
"""The order in which cards are listed, starting with those that wait for a person."""
RANK: Final = MappingProxyType({state: rank for rank, state in enumerate(ORDER)})


def waiting_for(board: Board, card_id: str) -> tuple[str, ...]:
    """Return the cards that must be done before a card can be started."""
    if card_id not in board.incoming:
        return ()
    return tuple(each for each in awaited(board.incoming, card_id) if board.cards[each].state != "done")


def view_of(board: Board, card: Card) -> CardView:
    """Return the view of a card."""
    attempt = card.attempt
    is_queued = card.state == "ready" and bool(attempt and attempt.is_open and not attempt.is_withdrawn)
    return CardView(card, waiting_for(board, card.id), is_queued, board.changed.get(card.id, 0))


def listed(board: Board, states: Collection[CardState] = ()) -> list[CardView]:
    """List cards: those that wait for a person first, then by priority and age."""
    cards: Iterable[Card] = board.cards.values()
    if states:
        cards = [card for card in cards if card.state in states]
    ordered = sorted(cards, key=_rank)
    return [view_of(board, card) for card in ordered]


def _rank(card: Card) -> tuple[int, int, float]:
    return RANK[card.state], card.work.priority, card.created.at


def overview(board: Board, name: str) -> BoardView:
    """Return the view of a board."""
    counts: dict[CardState, int] = dict.fromkeys(STATES, 0)
    for card in board.cards.values():
        counts[card.state] += 1
    return BoardView(name, board.number, counts, board.settings, board.spent, blocked_reason(board))


def changes_after(board: Board, name: str, cursor: int) -> BoardChanges:
    """Return the changes after a cursor."""
    ids = [card_id for card_id, number in board.changed.items() if number > cursor]
    cards = tuple(view_of(board, board.cards[card_id]) for card_id in ids if card_id in board.cards)
    removed = tuple(card_id for card_id in ids if card_id in board.removed)
    return BoardChanges(overview(board, name), cards, removed)


def blocked_reason(board: Board) -> str:
    """Return why a board starts no more cards, or an empty string."""
    limits, spent = board.settings, board.spent
    if limits.max_cost_usd is not None and spent.cost_usd >= limits.max_cost_usd:
        return board_messages.money_used_up(spent.cost_usd, limits.max_cost_usd)
    if limits.max_tokens is not None and spent.tokens >= limits.max_tokens:
        return board_messages.tokens_used_up(spent.tokens, limits.max_tokens)
    return ""
