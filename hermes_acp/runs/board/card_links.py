"""The links between cards as a graph: which card waits for which, and which link would close a cycle.

`Incoming` lists, for each card, the kinds and source cards of the links that point to it. A card waits for the cards
that block it, and a parent waits for its children, so these two kinds of link together must not form a cycle.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hermes_acp.core.ports.boards.cards import Link, LinkKind

Incoming = Mapping[str, frozenset[tuple[LinkKind, str]]]
WAITING: Final[frozenset[LinkKind]] = frozenset({"blocks", "parent"})
ORIGIN: Final[frozenset[LinkKind]] = frozenset({"found_in"})
NOTHING: Final[frozenset[tuple[LinkKind, str]]] = frozenset()
EMPTY: Final[Incoming] = MappingProxyType({})


def awaited(incoming: Incoming, card_id: str) -> tuple[str, ...]:
    """Return the cards on which a card depends, whatever their states."""
    return tuple(sorted({other for kind, other in incoming.get(card_id, NOTHING) if kind in WAITING}))


def closes_cycle(incoming: Incoming, card_id: str, link: Link) -> bool:
    """Return whether a new link from a card would close a cycle."""
    kinds = WAITING if link.kind in WAITING else ORIGIN
    seen, open_ids = {card_id}, [card_id]
    while open_ids:
        current = open_ids.pop()
        if current == link.card_id:
            return True
        for kind, other in incoming.get(current, NOTHING):
            if kind in kinds and other not in seen:
                seen.add(other)
                open_ids.append(other)
    return False


def with_link(incoming: dict[str, frozenset[tuple[LinkKind, str]]], card_id: str, link: Link) -> None:
    """Add a card's link to the graph."""
    added: tuple[LinkKind, str] = (link.kind, card_id)
    incoming[link.card_id] = incoming.get(link.card_id, NOTHING) | {added}


def without_link(incoming: dict[str, frozenset[tuple[LinkKind, str]]], card_id: str, link: Link) -> None:
    """Remove a card's link from the graph."""
    left = incoming.get(link.card_id, NOTHING) - {(link.kind, card_id)}
    if left:
        incoming[link.card_id] = left
    else:
        incoming.pop(link.card_id, None)
