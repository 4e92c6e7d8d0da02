"""Texts of `hermes-acp board`."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp.core.ports.boards.cards import CardState, LinkKind

LIST_HELP: Final = "list the cards, those that wait for you first"
SHOW_HELP: Final = "show a card: text, question, result, comments, links, history"
ADD_HELP: Final = "add a card; with --ready, work on it starts as soon as a worker is free"
EDIT_HELP: Final = "change a card's title, text or settings"
MOVE_HELP: Final = "move a card to inbox, ready, review, parked or done"
COMMENT_HELP: Final = "add a comment; the agent reads it when it starts or continues"
LINK_HELP: Final = "link two cards: one blocks the other, is its parent, or was found while working on it"
UNLINK_HELP: Final = "remove a link"
ANSWER_HELP: Final = "answer a card's question; the work then continues"
APPROVE_HELP: Final = "accept the result of a card in review: its branch is merged"
SEND_BACK_HELP: Final = "send a card in review back to work"
PARK_HELP: Final = "stop the work on a card until you move it to ready"
REMOVE_HELP: Final = "take a card off the board"
RESTORE_HELP: Final = "restore a removed card"
DIFF_HELP: Final = "print what a card's branch changes, as a patch"
WATCH_HELP: Final = "print each change as it happens"
LIMITS_HELP: Final = "show or set what all cards together may use, and how many run at the same time"
BOARDS_HELP: Final = "list the boards"
CREATE_HELP: Final = "create a board"
DELETE_HELP: Final = "remove a board; its files are archived"
BOARD_HELP: Final = "the board (default: {default})"
NAME_HELP: Final = "the board's name: up to 40 letters, digits, - and _"
CARD_HELP: Final = "the card's number"
OTHER_HELP: Final = "the other card's number"
TITLE_HELP: Final = "the title, one line"
NEW_TITLE_HELP: Final = "the new title"
TEXT_HELP: Final = "the task; - reads standard input"
CWD_HELP: Final = "the folder to work in (default: the current one)"
NEW_CWD_HELP: Final = "the folder to work in"
READY_HELP: Final = "start as soon as possible (default: the card waits in the inbox)"
SAME_FOLDER_HELP: Final = "work in the folder itself, not in a git worktree of its own"
BLOCKED_BY_HELP: Final = "a card that must be done first; repeatable"
PARENT_HELP: Final = "the card that this one is a part of"
CHECK_HELP: Final = "a command that must succeed before the result is merged; repeatable"
APPROVAL_HELP: Final = "who accepts the result: a person (default), or the card's checks"
MODE_HELP: Final = "the permission mode (default: as configured)"
MODEL_HELP: Final = "the model (default: as configured)"
BACKEND_HELP: Final = "where commands run (default: as configured)"
PLACE_HELP: Final = "work on it only on workers of this place"
PRIORITY_HELP: Final = "1 (first) to 5 (last); default: 3"
MAX_STEPS_HELP: Final = "model calls of each attempt"
MAX_TOKENS_HELP: Final = "tokens of each attempt"
MAX_COST_HELP: Final = "cost of each attempt, in US dollars"
TIMEOUT_HELP: Final = "seconds of each stretch of work"
STATE_HELP: Final = "list cards in this state only; repeatable"
ALL_HELP: Final = "also list cards that are done"
STATES_HELP: Final = "where to"
REASON_HELP: Final = "why; shown on the card"
WORDS_HELP: Final = "what to change"
COMMENT_TEXT_HELP: Final = "the comment"
ANSWER_WORDS_HELP: Final = (
    "allow, deny, or text: an answer to the agent's question, or what it should do instead"
)
CALL_HELP: Final = "the call, if several questions are open"
LINK_KIND_HELP: Final = "what the card does: blocks, parent or found-in"
BOARD_TOKENS_HELP: Final = "tokens of all cards together; none: no limit"
BOARD_COST_HELP: Final = "cost of all cards together, in US dollars; none: no limit"
RUNNING_HELP: Final = "cards worked on at the same time; none: no limit"
BOARD_PLACE_HELP: Final = "work on the board's cards only on workers of this place; none: anywhere"
EMPTY: Final = 'No cards. Add one: hermes-acp board add "…"'
NO_TEXT: Final = "Say what to change: --title, --text, or an option."
NO_BRANCH: Final = "This card has no branch of its own."
NOBODY_WORKS: Final = (
    "No process is running that can work on it. Start `hermes-acp worker`, or `hermes-acp daemon start`."
)
QUEUED: Final = "queued"
STATES: Final[Mapping[CardState, str]] = MappingProxyType(
    {
        "inbox": "inbox",
        "ready": "ready",
        "running": "running",
        "input_required": "waits for you",
        "review": "review",
        "merging": "merging",
        "done": "done",
        "parked": "parked",
    }
)
LINKS: Final[Mapping[LinkKind, str]] = MappingProxyType(
    {"blocks": "blocks", "parent": "is a part of", "found_in": "was found in"}
)
INCOMING: Final[Mapping[LinkKind, str]] = MappingProxyType(
    {"blocks": "is blocked by", "parent": "consists of", "found_in": "led to"}
)
FACTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "state": "State",
        "folder": "Folder",
        "branch": "Branch",
        "session": "Session",
        "run": "Run",
        "checks": "Checks",
        "approval": "Approval",
        "place": "Place",
        "used": "Used",
        "created": "Added",
    }
)
RESULT: Final = "Result"
COMMENTS: Final = "Comments"
HISTORY: Final = "History"
NONE: Final = "none"


def not_a_limit(text: str) -> str:
    """Say what a limit must be."""
    return f"must be a positive number or none, not {text}"


def added(card_id: str, state: CardState) -> str:
    """Confirm a new card."""
    return f"Card {card_id}: {STATES[state]}."


def changed(card_id: str, state: CardState) -> str:
    """Confirm a change."""
    return f"Card {card_id}: {STATES[state]}."


def removed(card_id: str) -> str:
    """Confirm that a card was removed."""
    return f"Removed card {card_id}. Restore it: hermes-acp board restore {card_id}"


def created(name: str, *, is_new: bool) -> str:
    """Confirm a new board."""
    return f"Created the board {name!r}." if is_new else f"The board {name!r} already exists."


def deleted(name: str) -> str:
    """Confirm that a board was removed."""
    return f"Removed the board {name!r}. Its files are archived."


def not_saved(problem: str) -> str:
    """Say why an edited file was not saved; `problem` names the file."""
    return f"Not saved: {problem} Your version is kept in the folder .not-saved next to the cards."


def waits_for(cards: Sequence[str]) -> str:
    """Say what a card waits for."""
    return f"waits for {', '.join(cards)}"


def used(tokens: int, cost_usd: float) -> str:
    """Say what was used."""
    return f"{tokens:,} tokens, ${cost_usd:.4f}"


def limits(
    *, tokens: int | None, cost_usd: float | None, running: int | None, place: str
) -> Mapping[str, str]:
    """Name the limits of a board."""
    return {
        "Tokens": NONE if tokens is None else f"{tokens:,}",
        "Cost": NONE if cost_usd is None else f"${cost_usd:.2f}",
        "At the same time": NONE if running is None else str(running),
        "Place": place or NONE,
    }


def how_to_answer(card_id: str, choice: str) -> str:
    """Say how a question is answered."""
    return f"Answer: hermes-acp board answer {card_id} {choice}"
