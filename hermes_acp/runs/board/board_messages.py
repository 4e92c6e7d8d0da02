"""Messages about boards for people: why an action was refused, and what to do instead."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp.core.ports.boards.cards import CardState, Link
from hermes_acp.core.ports.run_ports import RunState

CREATE_HINT: Final = "Create it: hermes-acp board create {name}."
BOARD_NAME_HINT: Final = "Use up to 40 letters, digits, - and _; begin with a letter or a digit."
IMPORTED: Final = "It was being worked on when the board was imported. Move it to ready to continue."
LIST_HINT: Final = "List the cards: hermes-acp board list."
RESTORE_HINT: Final = "Restore it: hermes-acp board restore {card}."
PARK_HINT: Final = "Park it first: hermes-acp board park {card}."
PARK_THEM: Final = "Park them first."
EMPTY_COMMENT: Final = "The comment is empty."
TWO_PARENTS: Final = "A card can have only one parent. Remove the other link first."
ASK_INSTEAD: Final = "Ask the question itself; the card then waits for the answer."
SEND_BACK_WORDS: Final = "Say what to change."
NO_TITLE: Final = "A card needs a title of one line."
NOT_WANTED: Final = "Somebody else has moved or changed the card in the meantime."
NO_FOLDER: Final = "The card does not name the folder to work in."
APPROVAL_BY_AGENT: Final = "Only a person can decide that checks approve a card."
APPROVAL_NEEDS_CHECKS: Final = "Checks can only approve a card that has at least one check."
LONG_TITLE: Final = "A title has at most {limit} characters. Put the rest into the text."
PEOPLE_ONLY: Final = "Only a person can do this."
NO_WORKER: Final = (
    "No process is working on ready cards. Start `hermes-acp worker`, or `hermes-acp daemon start`."
)
HOW_TO: Final[Mapping[CardState, str]] = MappingProxyType(
    {
        "running": "Move it to ready; it starts when a worker is free.",
        "input_required": "Comment on it, or park it: hermes-acp board park {card}.",
        "merging": "Approve it: hermes-acp board approve {card}.",
    }
)
STATE_NAMES: Final[Mapping[CardState, str]] = MappingProxyType({"input_required": "input required"})


def state_name(state: CardState) -> str:
    """Return the display name of a state."""
    return STATE_NAMES.get(state, state)


def no_board(name: str) -> str:
    """Say that a board does not exist."""
    return f"There is no board {name!r}."


def bad_board_name(name: str) -> str:
    """Say that a board name is invalid."""
    return f"{name!r} is not a valid name for a board."


def no_card(card_id: str) -> str:
    """Say that a card does not exist."""
    return f"There is no card {card_id!r} on this board."


def is_removed(card_id: str) -> str:
    """Say that a card was removed."""
    return f"Card {card_id} was removed."


def not_removed(card_id: str) -> str:
    """Say that there is nothing to restore."""
    return f"No card {card_id!r} was removed."


def is_busy(card_id: str, state: CardState) -> str:
    """Say that a card is being worked on."""
    if state == "ready":
        return f"The run of card {card_id} is queued or has not ended."
    return f"Card {card_id} is {state_name(state)}."


def is_done(card_id: str) -> str:
    """Say that a card is done."""
    return f"Card {card_id} is done."


def not_by_hand(state: CardState) -> str:
    """Say that cards cannot be moved to a state by hand."""
    return f"A card cannot be moved to {state_name(state)} by hand."


def agents_cannot(state: CardState) -> str:
    """Say that an agent may not move cards to a state."""
    return f"An agent cannot move a card to {state_name(state)}; a person does that."


def not_yours(card_id: str) -> str:
    """Say that an agent is not working on a card."""
    return f"Card {card_id} is not this session's card."


def not_running(card_id: str, state: CardState) -> str:
    """Say that no work is running on a card."""
    return f"Card {card_id} is {state_name(state)}, not running."


def not_ready(card_id: str, state: CardState) -> str:
    """Say that an agent cannot take a card."""
    return f"Card {card_id} is {state_name(state)}; only a ready card can be taken."


def not_in_review(card_id: str, state: CardState) -> str:
    """Say that a card is not in review."""
    return f"Card {card_id} is {state_name(state)}, not in review."


def waits(card_id: str, others: Sequence[str]) -> str:
    """Say which cards must be done first."""
    return f"Card {card_id} waits for {', '.join(others)}."


def no_link(card_id: str, link: Link) -> str:
    """Say that a link does not exist."""
    return f"Card {card_id} has no link {link.kind.replace('_', '-')} {link.card_id}."


def cycle(card_id: str, link: Link) -> str:
    """Say that a link would close a cycle."""
    return f"The link {card_id} {link.kind.replace('_', '-')} {link.card_id} would close a cycle."


def bad_priority(priority: int) -> str:
    """Say which priorities are valid."""
    return f"{priority} is not a priority. Use 1 (first) to 5 (last)."


def bad_folder(folder: str) -> str:
    """Say what kind of path a card's folder must be."""
    return f"The folder {folder!r} of a card must be an absolute path."


def money_used_up(cost_usd: float, limit_usd: float) -> str:
    """Say that a board has used up its money."""
    return f"The board has used ${cost_usd:.2f} of ${limit_usd:.2f}: no more cards are started."


def tokens_used_up(tokens: int, limit: int) -> str:
    """Say that a board has used up its tokens."""
    return f"The board has used {tokens:,} of {limit:,} tokens: no more cards are started."


def nothing_asked(card_id: str) -> str:
    """Say that a card has no open question."""
    return f"Card {card_id} is not waiting for an answer."


def sent_back_too_often(sentence: str) -> str:
    """Say why a person must look at a card whose branch cannot be merged."""
    return f"{sentence} The agent has tried to fix that several times."


def in_use(name: str, card_ids: Sequence[str]) -> str:
    """Say why a board cannot be removed."""
    return f"Cards of the board {name!r} are being worked on: {', '.join(card_ids)}."


def ended(state: RunState) -> str:
    """Say how the run for a card ended without a result."""
    return f"The run of this card was {state}." if state != "failed" else "The run of this card failed."
