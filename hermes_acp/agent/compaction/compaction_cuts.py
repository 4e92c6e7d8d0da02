"""Choose the part of a history that compaction removes; old tool outcomes go before messages.

Pure: the same history and budget always yield the same cut.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from hermes_acp.core.events import HistoryCompacted
from hermes_acp.core.messages import AssistantMessage, Message, ToolMessage
from hermes_acp.core.record.compacted_history import apply_compaction, is_long
from hermes_acp.core.record.history_invariants import can_split_before, last_exchange_index, last_prompt_index
from hermes_acp.core.token_estimates import TOKEN_BYTES, estimate_tokens

POINTER_LENGTH: Final = 400
"""How many characters of an old outcome are kept; enough to tell what it was."""
LARGE_OUTCOME_CHARACTERS: Final = 2_000
"""The minimum length at which an old outcome is worth cutting."""
MIN_CHARACTERS: Final = 1_000
"""How many characters of a recent outcome are always kept."""


class HistoryBudget(Struct, frozen=True):
    """The permitted length of a history, in estimated tokens.

    `kept` is the size of the most recent part, which stays verbatim; `max_fresh` limits the portion of it that cannot
    be removed. If cutting old outcomes brings the history down to `target`, nothing else is done; None disables this.
    Savings of less than `min_saved` are not worth a summary.
    """

    kept: int
    max_fresh: int
    target: int | None = None
    min_saved: int = 0


class HistoryCut(Struct, frozen=True):
    """The part of a history to remove; see `HistoryCompacted`. If `replaced` is empty, nothing is summarised."""

    replaced: int = 0
    carried: tuple[int, ...] = ()
    shortened: tuple[str, ...] = ()
    shortened_characters: int = 0

    def made(self, compaction_id: str, summary: str) -> HistoryCompacted:
        """Return the event that records this cut."""
        return HistoryCompacted(
            compaction_id, summary, self.replaced, self.carried, self.shortened, self.shortened_characters
        )


def find_cut(messages: Sequence[Message], room: HistoryBudget) -> HistoryCut | None:
    """Choose the part to remove, or return None if the history is short or nothing may be removed."""
    fresh_from = last_exchange_index(messages)
    place = _tail_start(messages, fresh_from, room.kept)
    if room.target is not None and (cut := _prune(messages, place, room.target)):
        return cut
    shortened, characters = _shorten_fresh(messages[fresh_from:], room.max_fresh)
    words = last_prompt_index(messages)
    carried = (words,) if words is not None and words < place else ()
    gone = [message for number, message in enumerate(messages[:place]) if number not in carried]
    is_worth_it = any(isinstance(message, AssistantMessage | ToolMessage) for message in gone)
    if is_worth_it and estimate_tokens(gone) >= room.min_saved:
        return HistoryCut(place, carried, shortened, characters)
    return HistoryCut(shortened=shortened, shortened_characters=characters) if shortened else None


def _tail_start(messages: Sequence[Message], fresh_from: int, kept: int) -> int:
    """Return the index from which on the history fits the budget."""
    place, weight = fresh_from, estimate_tokens(messages[fresh_from:])
    for number in range(fresh_from - 1, -1, -1):
        weight += estimate_tokens(messages[number : number + 1])
        if weight > kept:
            break
        if can_split_before(messages, number):
            place = number
    return place


def _prune(messages: Sequence[Message], place: int, target: int) -> HistoryCut | None:
    """Cut large old outcomes down to a pointer, if that is enough."""
    big = tuple(
        message.call_id
        for message in messages[:place]
        if isinstance(message, ToolMessage)
        and (message.parts or is_long(message.text, LARGE_OUTCOME_CHARACTERS))
    )
    cut = HistoryCut(shortened=big, shortened_characters=POINTER_LENGTH)
    return cut if big and estimate_tokens(apply_compaction(messages, cut.made("", ""))) <= target else None


def _shorten_fresh(fresh: Sequence[Message], most: int) -> tuple[tuple[str, ...], int]:
    """Find recent outcomes that leave no room for anything else, and the maximum length of each."""
    outcomes = [message for message in fresh if isinstance(message, ToolMessage)]
    weight = estimate_tokens(fresh)
    if not outcomes or weight <= most:
        return (), 0
    left = (most - (weight - estimate_tokens(outcomes))) * TOKEN_BYTES // len(outcomes)
    characters = max(MIN_CHARACTERS, left)
    long = tuple(message.call_id for message in outcomes if is_long(message.text, characters))
    return (long, characters) if long else ((), 0)
