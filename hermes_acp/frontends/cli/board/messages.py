"""Messages of `hermes-acp board`."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp.core.ports.boards.cards import CardState, LinkKind
from hermes_acp.frontends.cli.messages.word_forms import counted

PEOPLE_ONLY: Final = "Only a person can do this, and this command was started by an agent."
LIST_HELP: Final = "list the cards, with those waiting for you first"
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
DELETE_HELP: Final = "remove a board; its content is archived"
IMPORT_HELP: Final = "move boards from this machine's files into the fleet's database"
IMPORTED_NAMES_HELP: Final = "the boards (default: all)"
NOTHING_TO_IMPORT: Final = "There are no boards in this machine's files."
NOT_IMPORTED: Final = (
    "This machine also has boards in files, from before it joined the fleet. Move them into the fleet: "
    "hermes-acp board import"
)
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
SAME_FOLDER_HELP: Final = "work in the folder itself, not in its own git worktree"
BLOCKED_BY_HELP: Final = "a card that must be done first; repeatable"
PARENT_HELP: Final = "the card that this one is a part of"
CHECK_HELP: Final = "a command that must succeed before the result is merged; repeatable"
APPROVAL_HELP: Final = "who accepts the result: a person (default), or the card's checks"
MODE_HELP: Final = "the permission mode (default: as configured)"
MODEL_HELP: Final = "the model (default: as configured)"
BACKEND_HELP: Final = "where commands run (default: as configured)"
PLACE_HELP: Final = "only workers at this place may work on it"
PRIORITY_HELP: Final = "1 (first) to 5 (last); default: 3"
MAX_STEPS_HELP: Final = "model calls per attempt"
MAX_TOKENS_HELP: Final = "tokens per attempt"
MAX_COST_HELP: Final = "cost per attempt, in US dollars"
TIMEOUT_HELP: Final = "seconds per stretch of work"
STATE_HELP: Final = "list cards in this state only; repeatable"
ALL_HELP: Final = "also list cards that are done"
STATES_HELP: Final = "the new state"
REASON_HELP: Final = "why; shown on the card"
WORDS_HELP: Final = "what to change"
COMMENT_TEXT_HELP: Final = "the comment"
ANSWER_WORDS_HELP: Final = (
    "allow, deny, or text: an answer to the agent's question, or what it should do instead"
)
CALL_HELP: Final = "the call, if several questions are open"
LINK_KIND_HELP: Final = "how the card relates to the other one: blocks, parent or found-in"
BOARD_TOKENS_HELP: Final = "tokens for all cards together; none: no limit"
BOARD_COST_HELP: Final = "total cost of all cards, in US dollars; none: no limit"
RUNNING_HELP: Final = "cards worked on at the same time; none: no limit"
BOARD_PLACE_HELP: Final = "only workers at this place may work on the board's cards; none: anywhere"
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
        "input_required": "waiting for you",
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
        "machine": "Machine",
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
HISTORY_REMOVED: Final = "removed the card"
HISTORY_RESTORED: Final = "restored the card"
HISTORY_UNKNOWN: Final = "wrote an entry that this version does not recognise"
EDITED: Final[Mapping[str, str]] = MappingProxyType({"title": "title", "text": "text", "work": "settings"})
NONE: Final = "none"


def not_a_limit(text: str) -> str:
    """Say which limits are valid."""
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
    return f"Removed the board {name!r}. Its content is archived."


def imported(name: str, cards: int) -> str:
    """Confirm that a board was imported."""
    return f"Imported the board {name!r}: {counted(cards, 'card')}."


def parked_by_import(cards: Sequence[str]) -> str:
    """Name the cards that were parked because they were being worked on."""
    return f"Parked, because they were being worked on: {', '.join(cards)}. Move them to ready to continue."


def not_saved(problem: str) -> str:
    """Say why an edited file was not saved; `problem` names the file."""
    return f"Not saved: {problem} Your version is kept in the folder .not-saved next to the cards."


def waits_for(cards: Sequence[str]) -> str:
    """Name the cards that a card waits for."""
    return f"waits for {', '.join(cards)}"


def used(tokens: int, cost_usd: float) -> str:
    """Describe the usage; a cost of 0 means that the price of the model is unknown."""
    return f"{tokens:,} tokens, ${cost_usd:.4f}" if cost_usd else f"{tokens:,} tokens"


def limits(
    *, tokens: int | None, cost_usd: float | None, running: int | None, place: str
) -> Mapping[str, str]:
    """Name the limits of a board."""
    return {
        "Tokens": NONE if tokens is None else f"{tokens:,}",
        "Cost": NONE if cost_usd is None else f"${cost_usd:.2f}",
        "Running at once": NONE if running is None else str(running),
        "Place": place or NONE,
    }


def how_to_answer(card_id: str, choice: str) -> str:
    """Say how to answer a question."""
    return f"Answer: hermes-acp board answer {card_id} {choice}"


def history_added(title: str, state: CardState) -> str:
    """Say that the card was added, and in which state."""
    return f"added {title!r} to {STATES[state]}"


def history_edited(fields: Sequence[str]) -> str:
    """Name what was changed: title, text or work."""
    return f"changed {', '.join(EDITED.get(field, field) for field in fields)}"


def history_moved(state: CardState, reason: str) -> str:
    """Name the new state, with the reason if there is one."""
    return f"moved to {STATES[state]}{f': {reason}' if reason else ''}"


def history_commented(text: str) -> str:
    """Quote the start of a comment."""
    return f"commented: {text}"


def history_linked(kind: LinkKind, card_id: str) -> str:
    """Name the link that was added."""
    return f"linked: it {LINKS[kind]} {card_id}"


def history_unlinked(kind: LinkKind, card_id: str) -> str:
    """Name the link that was removed."""
    return f"no longer linked: it {LINKS[kind]} {card_id}"


def history_answered(answer: str, text: str) -> str:
    """Return the answer to a question, with its comment."""
    return f"answered {answer.replace('_', ' ')}{f': {text}' if text else ''}"


def history_started(number: int, run_id: str) -> str:
    """Say which attempt started, as a run or in a session."""
    return f"attempt {number} started{f' as {run_id}' if run_id else ' in a session'}"


def history_spent(number: int, tokens: int, cost_usd: float, *, is_open: bool) -> str:
    """Say what an attempt has used so far, or had used when it ended."""
    return f"attempt {number} {'has used' if is_open else 'ended after'} {used(tokens, cost_usd)}"


def history_branch(branch: str, folder: str) -> str:
    """Name the branch and the folder in which an attempt works."""
    return f"works on the branch {branch} in {folder}" if branch else f"works in {folder}"
