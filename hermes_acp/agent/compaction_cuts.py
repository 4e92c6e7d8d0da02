"""Which part of a history gives way when it has to be shorter.

Knows: what must stay, what may go, and that old outcomes go before words do. Does not know: tokens as an endpoint
counts them, how a summary is made. Pure: the same history and the same room give the same cut.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from hermes_acp.agent.weights import TOKEN_BYTES, weigh
from hermes_acp.core.events import HistoryCompacted
from hermes_acp.core.history_laws import may_be_cut, place_of_last_exchange, place_of_last_prompt
from hermes_acp.core.messages import AssistantMessage, Message, ToolMessage
from hermes_acp.core.shortening import compacted, is_long

POINTER_CHARACTERS: Final = 400
"""What is left of an old outcome: enough to tell what it was."""
BIG_CHARACTERS: Final = 2_000
"""An old outcome is worth cutting from here on."""
LEAST_CHARACTERS: Final = 1_000
"""What is left of a fresh outcome at least, however little room there is."""


class Room(Struct, frozen=True):
    """How long a history may be, in tokens by estimate.

    `kept` is for the end that stays word for word, `most_fresh` for the part of it that nothing may take the place of.
    Where cutting old outcomes brings the history down to `enough`, that is all that is done; None is never. Less than
    `worth` is not summarised.
    """

    kept: int
    most_fresh: int
    enough: int | None = None
    worth: int = 0


class Cut(Struct, frozen=True):
    """What gives way: see `core.events.HistoryCompacted`. Nothing is summarised where nothing is `replaced`."""

    replaced: int = 0
    carried: tuple[int, ...] = ()
    shortened: tuple[str, ...] = ()
    shortened_characters: int = 0

    def made(self, compaction_id: str, summary: str) -> HistoryCompacted:
        """Give the event of this cut."""
        return HistoryCompacted(
            compaction_id, summary, self.replaced, self.carried, self.shortened, self.shortened_characters
        )


def find_cut(messages: Sequence[Message], room: Room) -> Cut | None:
    """Decide what gives way; None where the history is short or nothing of it may go."""
    fresh_from = place_of_last_exchange(messages)
    place = _tail_place(messages, fresh_from, room.kept)
    if room.enough is not None and (cut := _prune(messages, place, room.enough)):
        return cut
    shortened, characters = _shorten_fresh(messages[fresh_from:], room.most_fresh)
    words = place_of_last_prompt(messages)
    carried = (words,) if words is not None and words < place else ()
    gone = [message for number, message in enumerate(messages[:place]) if number not in carried]
    is_worth_it = any(isinstance(message, AssistantMessage | ToolMessage) for message in gone)
    if is_worth_it and weigh(gone) >= room.worth:
        return Cut(place, carried, shortened, characters)
    return Cut(shortened=shortened, shortened_characters=characters) if shortened else None


def _tail_place(messages: Sequence[Message], fresh_from: int, kept: int) -> int:
    """Give the first place from which the end of the history is light enough to be kept as it is."""
    place, weight = fresh_from, weigh(messages[fresh_from:])
    for number in range(fresh_from - 1, -1, -1):
        weight += weigh(messages[number : number + 1])
        if weight > kept:
            break
        if may_be_cut(messages, number):
            place = number
    return place


def _prune(messages: Sequence[Message], place: int, enough: int) -> Cut | None:
    """Cut big old outcomes down to what tells what they were, if that is enough."""
    big = tuple(
        message.call_id
        for message in messages[:place]
        if isinstance(message, ToolMessage) and (message.parts or is_long(message.text, BIG_CHARACTERS))
    )
    cut = Cut(shortened=big, shortened_characters=POINTER_CHARACTERS)
    return cut if big and weigh(compacted(messages, cut.made("", ""))) <= enough else None


def _shorten_fresh(fresh: Sequence[Message], most: int) -> tuple[tuple[str, ...], int]:
    """Find the outcomes that alone leave no room for anything else, and how long each of them may be."""
    outcomes = [message for message in fresh if isinstance(message, ToolMessage)]
    weight = weigh(fresh)
    if not outcomes or weight <= most:
        return (), 0
    left = (most - (weight - weigh(outcomes))) * TOKEN_BYTES // len(outcomes)
    characters = max(LEAST_CHARACTERS, left)
    long = tuple(message.call_id for message in outcomes if is_long(message.text, characters))
    return (long, characters) if long else ((), 0)
