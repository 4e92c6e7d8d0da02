"""The entries in a board's log, which record everything that has happened to its cards."""

from msgspec import Struct

from hermes_acp.core.ports.boards.cards import (
    Actor,
    Attempt,
    BoardSettings,
    CardState,
    CardWork,
    Link,
    Spending,
)


class CardAdded(Struct, frozen=True, omit_defaults=True, tag="added"):
    """A card was added."""

    card_id: str
    title: str
    text: str = ""
    state: CardState = "inbox"
    work: CardWork = CardWork()
    links: tuple[Link, ...] = ()


class CardEdited(Struct, frozen=True, omit_defaults=True, tag="edited"):
    """A card's text or settings changed; None means unchanged."""

    card_id: str
    title: str | None = None
    text: str | None = None
    work: CardWork | None = None


class CardMoved(Struct, frozen=True, omit_defaults=True, tag="moved"):
    """A card's state changed. `words` is the prompt for its next attempt; an empty `result` keeps the previous one."""

    card_id: str
    to: CardState
    reason: str = ""
    words: str = ""
    result: str = ""


class CardCommented(Struct, frozen=True, tag="commented"):
    """A comment was added to a card."""

    card_id: str
    text: str


class CardLinked(Struct, frozen=True, tag="linked"):
    """A link was added to a card."""

    card_id: str
    link: Link


class CardUnlinked(Struct, frozen=True, tag="unlinked"):
    """A link was removed from a card."""

    card_id: str
    link: Link


class CardAnswered(Struct, frozen=True, omit_defaults=True, tag="answered"):
    """Someone answered the question of a card's run."""

    card_id: str
    answer: str
    text: str = ""


class AttemptStarted(Struct, frozen=True, tag="attempt_started"):
    """A run was started for a card, or a session took the card."""

    card_id: str
    attempt: Attempt


class AttemptNoted(Struct, frozen=True, omit_defaults=True, tag="attempt_noted"):
    """An attempt's usage so far was recorded, and whether it has ended."""

    card_id: str
    number: int
    spent: Spending
    is_open: bool = True


class BranchNoted(Struct, frozen=True, omit_defaults=True, tag="branch_noted"):
    """The folder and branch of a card's attempt became known, and its machine if several machines share the board."""

    card_id: str
    folder: str
    branch: str = ""
    base: str = ""
    machine: str = ""


class CardRemoved(Struct, frozen=True, tag="removed"):
    """A card was removed; it can be restored."""

    card_id: str


class CardRestored(Struct, frozen=True, tag="restored"):
    """A removed card was restored."""

    card_id: str


class BoardChanged(Struct, frozen=True, tag="board_changed"):
    """The board's limits changed."""

    settings: BoardSettings


class UnknownEntry(Struct, frozen=True, tag="unknown"):
    """An entry written by a newer version, which this version ignores."""


CardEvent = (
    CardAdded
    | CardEdited
    | CardMoved
    | CardCommented
    | CardLinked
    | CardUnlinked
    | CardAnswered
    | AttemptStarted
    | AttemptNoted
    | BranchNoted
    | CardRemoved
    | CardRestored
    | BoardChanged
    | UnknownEntry
)


class LogEntry(Struct, frozen=True):
    """An entry in the log: its number, counted from 1, when it was written (seconds since the epoch), and by whom."""

    number: int
    at: float
    by: Actor
    event: CardEvent


class Draft(Struct, frozen=True):
    """An entry to be appended."""

    by: Actor
    event: CardEvent
