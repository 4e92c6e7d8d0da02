"""Random board logs, including entries that no rule would permit."""

import random

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
    UnknownEntry,
)
from hermes_acp.core.ports.boards.cards import (
    STATES,
    Actor,
    ActorKind,
    Attempt,
    BoardSettings,
    CardWork,
    Link,
    LinkKind,
    Spending,
)

ACTORS: tuple[ActorKind, ...] = ("person", "agent", "engine", "check")
KINDS: tuple[LinkKind, ...] = ("blocks", "parent", "found_in")
IDS = ("1", "2", "3", "4", "5", "9")


def random_event(dice: random.Random) -> CardEvent:
    """Return any event about any of a few cards."""
    card_id = dice.choice(IDS)
    link = Link(dice.choice(KINDS), dice.choice(IDS))
    number = dice.randint(1, 4)
    match dice.randint(0, 15):
        case 0 | 1 | 2:
            links = (link,) if dice.random() < 0.5 else ()
            return CardAdded(card_id, "a title", "text", dice.choice(STATES), links=links)
        case 3:
            return CardEdited(
                card_id, dice.choice((None, "other")), dice.choice((None, "more")), CardWork("/x")
            )
        case 4 | 5 | 6:
            return CardMoved(card_id, dice.choice(STATES), "why", dice.choice(("", "words")), "result")
        case 7:
            return CardCommented(card_id, "a comment")
        case 8 | 9:
            return CardLinked(card_id, link)
        case 10:
            return CardUnlinked(card_id, link)
        case 11:
            run_id = dice.choice(("", f"b.{card_id}.{number}"))
            return AttemptStarted(card_id, Attempt(number, "ses_1", run_id))
        case 12:
            return AttemptNoted(card_id, number, Spending(dice.randint(0, 9), 0.5), dice.random() < 0.5)
        case 13:
            return dice.choice((CardRemoved(card_id), CardRestored(card_id)))
        case 14:
            return dice.choice((CardAnswered(card_id, "allow_once"), BranchNoted(card_id, "/w", "b")))
        case _:
            return dice.choice((BoardChanged(BoardSettings(max_tokens=number)), UnknownEntry()))


def random_log(seed: int, length: int = 60) -> list[LogEntry]:
    """Return a log of random events by random actors."""
    dice = random.Random(seed)
    return [
        LogEntry(number, float(number), Actor(dice.choice(ACTORS), "ann"), random_event(dice))
        for number in range(1, length + 1)
    ]
