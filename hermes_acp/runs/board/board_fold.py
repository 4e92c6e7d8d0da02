"""Derive a board's cards from its log, with a pure function that accepts any prefix of a log and any content.

Permissions are checked before an entry is written. Here, only entries that would make the board inconsistent are
skipped: those about an unknown card, a second card with the same ID, or a link that closes a cycle.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from hermes_acp.core.ports.boards.card_events import (
    AttemptNoted,
    AttemptStarted,
    BoardChanged,
    BranchNoted,
    CardAdded,
    CardAnswered,
    CardCommented,
    CardEdited,
    CardEvent,
    CardLinked,
    CardMoved,
    CardRemoved,
    CardRestored,
    CardUnlinked,
    LogEntry,
)
from hermes_acp.core.ports.boards.cards import (
    Attempt,
    BoardSettings,
    Card,
    CardNotes,
    CardState,
    Comment,
    Link,
    LinkKind,
    Spending,
    Stamp,
)
from hermes_acp.runs.board.card_links import EMPTY, NOTHING, Incoming, closes_cycle, with_link, without_link

IN_PROGRESS: Final[tuple[CardState, ...]] = ("running", "input_required")
NOT_STARTED: Final[tuple[CardState, ...]] = ("inbox", "ready", "parked")
NOWHERE: Final = BranchNoted("", "")


class RemovedCard(Struct, frozen=True):
    """A removed card, with the links that point to it."""

    card: Card
    incoming: frozenset[tuple[LinkKind, str]] = NOTHING


class Board(Struct, frozen=True):
    """The cards of a board after entry `number` of its log.

    `changed` is the number of the last entry about each card, including removed ones. `highest` is the highest number
    used as an ID.
    """

    number: int = 0
    cards: Mapping[str, Card] = MappingProxyType({})
    removed: Mapping[str, RemovedCard] = MappingProxyType({})
    changed: Mapping[str, int] = MappingProxyType({})
    incoming: Incoming = EMPTY
    settings: BoardSettings = BoardSettings()
    spent: Spending = Spending()
    highest: int = 0


def fold(board: Board, entries: Iterable[LogEntry]) -> Board:
    """Return the board after further entries."""
    folding = _Folding(board)
    for entry in entries:
        folding.take(entry)
    return folding.result()


class _Folding:
    """A board while log entries are being applied to it."""

    def __init__(self, board: Board) -> None:
        self._number = board.number
        self._cards = dict(board.cards)
        self._removed = dict(board.removed)
        self._changed = dict(board.changed)
        self._incoming = dict(board.incoming)
        self._settings = board.settings
        self._spent = board.spent
        self._highest = board.highest

    def result(self) -> Board:
        """Return the resulting board."""
        return Board(
            self._number,
            self._cards,
            self._removed,
            self._changed,
            self._incoming,
            self._settings,
            self._spent,
            self._highest,
        )

    def take(self, entry: LogEntry) -> None:
        """Apply one entry."""
        self._number = entry.number
        match entry.event:
            case BoardChanged() as event:
                self._settings = event.settings
            case CardAdded() as event:
                self._add(entry, event)
            case CardRestored() as event:
                self._restore(entry, event.card_id)
            case event:
                card = self._cards.get(getattr(event, "card_id", ""))
                if card:
                    self._change(card, entry, event)

    def _change(self, card: Card, entry: LogEntry, event: CardEvent) -> None:
        match event:
            case AttemptNoted():
                self._note(card, entry, event)
            case CardLinked() if event.link not in card.links:
                if self._connect(card.id, event.link):
                    self._put(replace(card, links=(*card.links, event.link)), entry)
            case CardUnlinked() if event.link in card.links:
                without_link(self._incoming, card.id, event.link)
                self._put(_without(card, event.link), entry)
            case CardRemoved():
                self._remove(card, entry)
            case _:
                changed = _changed(card, entry, event)
                if changed is not card:
                    self._put(changed, entry)

    def _put(self, card: Card, entry: LogEntry) -> None:
        self._cards[card.id] = replace(card, updated=Stamp(entry.by, entry.at))
        self._changed[card.id] = entry.number

    def _add(self, entry: LogEntry, event: CardAdded) -> None:
        card_id = event.card_id
        if not card_id or card_id in self._cards or card_id in self._removed:
            return
        stamp = Stamp(entry.by, entry.at)
        card = Card(card_id, event.title, stamp, stamp, event.text, event.state, event.work)
        self._cards[card_id] = card
        links = tuple(link for link in dict.fromkeys(event.links) if self._connect(card_id, link))
        if links:
            self._cards[card_id] = replace(card, links=links)
        self._changed[card_id] = entry.number
        if card_id.isdecimal():
            self._highest = max(self._highest, int(card_id))

    def _connect(self, card_id: str, link: Link) -> bool:
        """Add a link to the graph; return False if its card does not exist or the link would close a cycle."""
        if link.card_id not in self._cards or closes_cycle(self._incoming, card_id, link):
            return False
        with_link(self._incoming, card_id, link)
        return True

    def _note(self, card: Card, entry: LogEntry, event: AttemptNoted) -> None:
        """Store an attempt's usage, replacing the earlier value."""
        attempt = card.attempt
        if attempt is None or attempt.number != event.number:
            return
        tokens = event.spent.tokens - attempt.spent.tokens
        cost_usd = event.spent.cost_usd - attempt.spent.cost_usd
        now = replace(attempt, spent=event.spent, is_open=event.is_open)
        self._spent = _more(self._spent, tokens, cost_usd)
        self._put(replace(card, attempt=now, spent=_more(card.spent, tokens, cost_usd)), entry)

    def _remove(self, card: Card, entry: LogEntry) -> None:
        for link in card.links:
            without_link(self._incoming, card.id, link)
        incoming = self._incoming.pop(card.id, NOTHING)
        for kind, other in incoming:
            self._cards[other] = _without(self._cards[other], Link(kind, card.id))
            self._changed[other] = entry.number
        del self._cards[card.id]
        self._removed[card.id] = RemovedCard(replace(card, updated=Stamp(entry.by, entry.at)), incoming)
        self._changed[card.id] = entry.number

    def _restore(self, entry: LogEntry, card_id: str) -> None:
        """Restore a card with those links that are still valid."""
        removed = self._removed.pop(card_id, None)
        if removed is None:
            return
        card = self._cards[card_id] = removed.card
        links = tuple(link for link in card.links if self._connect(card_id, link))
        self._put(replace(card, links=links), entry)
        for kind, other in sorted(removed.incoming):
            linked, link = self._cards.get(other), Link(kind, card_id)
            if linked and self._connect(other, link):
                self._cards[other] = replace(linked, links=(*linked.links, link))
                self._changed[other] = entry.number


def _changed(card: Card, entry: LogEntry, event: CardEvent) -> Card:
    """Return a card after an event that concerns only that card, or the same object if the event changes nothing."""
    match event:
        case CardEdited():
            edited = replace(
                card,
                title=card.title if event.title is None else event.title,
                text=card.text if event.text is None else event.text,
                work=card.work if event.work is None else event.work,
            )
            if edited.work.folder != card.work.folder and edited.attempt:
                edited = replace(edited, attempt=_placed(edited.attempt, NOWHERE))
            return _withdrawn(edited) if card.state == "ready" else edited
        case CardMoved():
            words = event.words or (card.notes.words if event.to in NOT_STARTED else "")
            number = card.attempt.number if event.result and card.attempt else card.notes.attempt
            notes = CardNotes(event.result or card.notes.result, event.reason, words, number)
            moved = replace(card, state=event.to, notes=notes)
            is_over = entry.by.kind != "engine" and event.to not in IN_PROGRESS
            return _withdrawn(moved) if is_over else moved
        case CardCommented():
            return replace(card, comments=(*card.comments, Comment(entry.by, entry.at, event.text)))
        case CardAnswered() if card.state == "input_required":
            return replace(card, state="running", notes=replace(card.notes, reason=""))
        case AttemptStarted() if card.attempt is None or event.attempt.number > card.attempt.number:
            return replace(card, attempt=event.attempt)
        case BranchNoted() if card.attempt:
            return replace(card, attempt=_placed(card.attempt, event))
        case _:
            return card


def _placed(attempt: Attempt, place: BranchNoted) -> Attempt:
    """Return the attempt with its folder, branch and machine set."""
    return replace(attempt, folder=place.folder, branch=place.branch, base=place.base, machine=place.machine)


def _withdrawn(card: Card) -> Card:
    """Return the card with its open run, if any, marked to be stopped."""
    attempt = card.attempt
    if attempt is None or not attempt.is_open or not attempt.run_id:
        return card
    return replace(card, attempt=replace(attempt, is_withdrawn=True))


def _without(card: Card, link: Link) -> Card:
    return replace(card, links=tuple(each for each in card.links if each != link))


def _more(spent: Spending, tokens: int, cost_usd: float) -> Spending:
    return Spending(spent.tokens + tokens, spent.cost_usd + cost_usd)
