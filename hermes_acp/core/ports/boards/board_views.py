"""What is shown of boards: a board with its limits, its cards, and what has changed since a cursor."""

from msgspec import Struct

from hermes_acp.core.ports.boards.cards import BoardSettings, Card, CardState, Spending


class CardView(Struct, frozen=True, gc=False):
    """A card as it is shown.

    `waits_for` are the cards that must be done first. `is_queued`: its run waits for a worker. `changed` is the cursor
    of its last change.
    """

    card: Card
    waits_for: tuple[str, ...] = ()
    is_queued: bool = False
    changed: int = 0


class BoardView(Struct, frozen=True):
    """A board: how many cards are in which state, its limits, and why it starts nothing, if so.

    `cursor` orders all changes of the board.
    """

    name: str
    cursor: int
    counts: dict[CardState, int]
    settings: BoardSettings = BoardSettings()
    spent: Spending = Spending()
    halted: str = ""


class BoardChanges(Struct, frozen=True):
    """The cards that have changed after a cursor, as they are now, and the IDs of those that were removed.

    `board` has the new cursor.
    """

    board: BoardView
    cards: tuple[CardView, ...] = ()
    removed: tuple[str, ...] = ()
