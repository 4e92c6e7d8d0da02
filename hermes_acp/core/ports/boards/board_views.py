"""Views of boards: a board with its limits, its cards, and the changes since a cursor."""

from msgspec import Struct

from hermes_acp.core.ports.boards.cards import BoardSettings, Card, CardState, Spending


class CardView(Struct, frozen=True, gc=False):
    """A card as shown to people.

    `waits_for` lists the cards that must be done first. `is_queued` means that its run is waiting for a worker.
    `changed` is the cursor of its last change.
    """

    card: Card
    waits_for: tuple[str, ...] = ()
    is_queued: bool = False
    changed: int = 0


class BoardView(Struct, frozen=True):
    """A board: the number of cards in each state, its limits and, if it starts no cards, the reason.

    `cursor` orders all changes to the board.
    """

    name: str
    cursor: int
    counts: dict[CardState, int]
    settings: BoardSettings = BoardSettings()
    spent: Spending = Spending()
    halted: str = ""


class BoardChanges(Struct, frozen=True):
    """The current versions of the cards that changed after a cursor, and the IDs of removed cards.

    `board` contains the new cursor.
    """

    board: BoardView
    cards: tuple[CardView, ...] = ()
    removed: tuple[str, ...] = ()
