"""The rules for actions on a board: each action results in log entries or is refused with a reason. Pure functions.

A person decides which cards are started, accepted or dropped; an agent works on its own card until review; the engine
reports the outcomes of runs (`board_decisions.py`).
"""

from typing import Final, assert_never

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.boards.card_actions import (
    AddCard,
    AnswerCard,
    ApproveCard,
    CardAction,
    ChangeBoard,
    CommentOnCard,
    EditCard,
    LinkCard,
    MoveCard,
    NoteBranch,
    NoteResult,
    ParkCard,
    RemoveCard,
    RestoreCard,
    SendBackCard,
    TakeCard,
)
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
)
from hermes_acp.core.ports.boards.cards import BOARD_NAME, Actor, Attempt, Card, CardState, CardWork, Link
from hermes_acp.core.ports.run_ports import MAX_PRIORITY, MIN_PRIORITY
from hermes_acp.runs.board import board_messages as words
from hermes_acp.runs.board.board_fold import Board
from hermes_acp.runs.board.board_reading import waiting_for
from hermes_acp.runs.board.card_links import closes_cycle

MAX_TITLE: Final = 300
Events = tuple[CardEvent, ...]
AGENT_MOVES: Final[tuple[CardState, ...]] = ("review", "input_required")
BUSY: Final[tuple[CardState, ...]] = ("running", "input_required", "merging")
TAKEN_FROM: Final[tuple[CardState, ...]] = ("inbox", "ready", "parked")


def events_of(board: Board, action: CardAction, by: Actor) -> Events:
    """Return the log entries that result from an action; empty if it changes nothing. Raises BadRequest."""
    match action:
        case AddCard():
            return _add(board, action, by)
        case ChangeBoard():
            _people_only(by)
            return (BoardChanged(action.settings),) if action.settings != board.settings else ()
        case RestoreCard():
            _people_only(by)
            if action.card_id not in board.removed:
                raise BadRequest(words.not_removed(action.card_id))
            return (CardRestored(action.card_id),)
        case _:
            return _card_events(board, known(board, action.card_id), action, by)


def check_board_name(name: str) -> None:
    """Raise BadRequest unless a text is a valid board name."""
    if not BOARD_NAME.fullmatch(name):
        raise BadRequest(words.bad_board_name(name), hint=words.BOARD_NAME_HINT)


def no_board(name: str) -> BadRequest:
    """Return the error for a board that does not exist."""
    return BadRequest(words.no_board(name), hint=words.CREATE_HINT.format(name=name))


def known(board: Board, card_id: str) -> Card:
    """Return the card with an ID. Raises BadRequest."""
    if card := board.cards.get(card_id):
        return card
    if card_id in board.removed:
        raise BadRequest(words.is_removed(card_id), hint=words.RESTORE_HINT.format(card=card_id))
    raise BadRequest(words.no_card(card_id), hint=words.LIST_HINT)


def is_own(card: Card, by: Actor) -> bool:
    """Return whether an agent is working on a card."""
    return by.kind == "agent" and bool(card.attempt and card.attempt.session_id == by.name)


def _card_events(board: Board, card: Card, action: CardAction, by: Actor) -> Events:
    match action:
        case EditCard():
            return _edit(card, action, by)
        case MoveCard():
            return _move(board, card, action, by)
        case CommentOnCard():
            if not action.text.strip():
                raise BadRequest(words.EMPTY_COMMENT)
            return (CardCommented(card.id, action.text.strip()),)
        case LinkCard():
            return _link(board, card, action, by)
        case AnswerCard():
            _people_only(by)
            return (CardAnswered(card.id, action.answer, action.text),)
        case ApproveCard() | SendBackCard() | ParkCard():
            _people_only(by)
            return _review(card, action)
        case TakeCard():
            return _take(board, card, action, by)
        case NoteResult():
            return _result(card, action, by)
        case NoteBranch():
            return (BranchNoted(card.id, action.folder, action.branch, action.base, action.machine),)
        case RemoveCard():
            _people_only(by)
            if card.state in BUSY or _has_run(card):
                raise BadRequest(
                    words.is_busy(card.id, card.state), hint=words.PARK_HINT.format(card=card.id)
                )
            return (CardRemoved(card.id),)
        case AddCard() | ChangeBoard() | RestoreCard():
            return ()
        case _:
            assert_never(action)


def _add(board: Board, action: AddCard, by: Actor) -> Events:
    card_id = str(board.highest + 1)
    _check_title(action.title)
    _check_work(action.work, CardWork(), by)
    for link in action.links:
        _check_link(board, card_id, link)
    if sum(link.kind == "parent" for link in action.links) > 1:
        raise BadRequest(words.TWO_PARENTS)
    return (CardAdded(card_id, action.title.strip(), action.text, action.to, action.work, action.links),)


def _edit(card: Card, action: EditCard, by: Actor) -> Events:
    if by.kind == "agent" and not is_own(card, by) and card.created.by != by:
        raise BadRequest(words.not_yours(card.id))
    title = action.title.strip() if action.title is not None and action.title.strip() != card.title else None
    text = action.text if action.text != card.text else None
    work = action.work if action.work != card.work else None
    if title is None and text is None and work is None:
        return ()
    if title is not None:
        _check_title(title)
    if work is not None:
        _check_work(work, card.work, by)
        is_moved = (work.folder, work.worktree) != (card.work.folder, card.work.worktree)
        if is_moved and card.state in BUSY:
            raise BadRequest(words.is_busy(card.id, card.state), hint=words.PARK_HINT.format(card=card.id))
    return (CardEdited(card.id, title, text, work),)


def _move(board: Board, card: Card, action: MoveCard, by: Actor) -> Events:
    if action.to == card.state:
        return ()
    if by.kind == "agent":
        return _agent_move(card, action, by)
    if action.to in BUSY:
        raise BadRequest(words.not_by_hand(action.to), hint=words.HOW_TO[action.to].format(card=card.id))
    if action.to == "review" and _has_run(card):
        raise BadRequest(words.is_busy(card.id, card.state), hint=words.PARK_HINT.format(card=card.id))
    return (*_closing(card), CardMoved(card.id, action.to, action.reason, result=action.result))


def _agent_move(card: Card, action: MoveCard, by: Actor) -> Events:
    if action.to not in AGENT_MOVES:
        raise BadRequest(words.agents_cannot(action.to))
    if not is_own(card, by):
        raise BadRequest(words.not_yours(card.id))
    if card.state not in ("running", "input_required"):
        raise BadRequest(words.not_running(card.id, card.state))
    if action.to == "review":
        return _result(card, NoteResult(card.id, action.result), by)
    if _has_run(card):
        raise BadRequest(words.ASK_INSTEAD)
    return (CardMoved(card.id, "input_required", action.reason),)


def _result(card: Card, action: NoteResult, by: Actor) -> Events:
    """Record a result. A run continues to its end, which then moves the card; a session's work is finished at once."""
    if by.kind == "agent" and not is_own(card, by):
        raise BadRequest(words.not_yours(card.id))
    if card.state not in ("running", "input_required"):
        raise BadRequest(words.not_running(card.id, card.state))
    if _has_run(card):
        return (CardMoved(card.id, card.state, card.notes.reason, result=action.result),)
    return (*_closing(card), CardMoved(card.id, "review", result=action.result))


def _review(card: Card, action: ApproveCard | SendBackCard | ParkCard) -> Events:
    """Accept a result, send it back with comments, or stop the work."""
    match action:
        case ApproveCard():
            if card.state != "review":
                raise BadRequest(words.not_in_review(card.id, card.state))
            said = (CardCommented(card.id, action.comment.strip()),) if action.comment.strip() else ()
            has_branch = bool(card.attempt and card.attempt.branch)
            return (*said, CardMoved(card.id, "merging" if has_branch else "done"))
        case SendBackCard():
            if card.state != "review":
                raise BadRequest(words.not_in_review(card.id, card.state))
            if not action.words.strip():
                raise BadRequest(words.SEND_BACK_WORDS)
            said = CardCommented(card.id, action.words.strip())
            return (said, CardMoved(card.id, "ready", words=action.words.strip()))
        case ParkCard():
            if card.state == "done":
                raise BadRequest(words.is_done(card.id))
            if card.state == "parked":
                return ()
            return (*_closing(card), CardMoved(card.id, "parked", action.reason))


def _take(board: Board, card: Card, action: TakeCard, by: Actor) -> Events:
    if by.kind == "agent" and (by.name != action.session_id or card.state != "ready"):
        raise BadRequest(words.not_ready(card.id, card.state))
    if card.state not in TAKEN_FROM or _has_run(card):
        raise BadRequest(words.is_busy(card.id, card.state), hint=words.PARK_HINT.format(card=card.id))
    if waits := waiting_for(board, card.id):
        raise BadRequest(words.waits(card.id, waits))
    number = card.attempt.number + 1 if card.attempt else 1
    attempt = Attempt(number, action.session_id)
    return AttemptStarted(card.id, attempt), CardMoved(card.id, "running")


def _link(board: Board, card: Card, action: LinkCard, by: Actor) -> Events:
    if by.kind == "agent" and not is_own(card, by) and card.created.by != by:
        raise BadRequest(words.not_yours(card.id))
    link = action.link
    if action.is_removed:
        if link not in card.links:
            raise BadRequest(words.no_link(card.id, link))
        return (CardUnlinked(card.id, link),)
    if link in card.links:
        return ()
    _check_link(board, card.id, link)
    if link.kind == "parent" and any(each.kind == "parent" for each in card.links):
        raise BadRequest(words.TWO_PARENTS)
    return (CardLinked(card.id, link),)


def _check_link(board: Board, card_id: str, link: Link) -> None:
    known(board, link.card_id)
    if closes_cycle(board.incoming, card_id, link):
        raise BadRequest(words.cycle(card_id, link))


def _check_title(title: str) -> None:
    if not title.strip() or "\n" in title.strip():
        raise BadRequest(words.NO_TITLE)
    if len(title) > MAX_TITLE:
        raise BadRequest(words.LONG_TITLE.format(limit=MAX_TITLE))


def _check_work(work: CardWork, before: CardWork, by: Actor) -> None:
    if not MAX_PRIORITY <= work.priority <= MIN_PRIORITY:
        raise BadRequest(words.bad_priority(work.priority))
    if work.folder and not work.folder.startswith("/"):
        raise BadRequest(words.bad_folder(work.folder))
    if work.approval == "checks":
        if not work.checks:
            raise BadRequest(words.APPROVAL_NEEDS_CHECKS)
        if by.kind == "agent" and (work.approval, work.checks) != (before.approval, before.checks):
            raise BadRequest(words.APPROVAL_BY_AGENT)


def _has_run(card: Card) -> bool:
    """Return whether a card has a run that has not ended."""
    return bool(card.attempt and card.attempt.is_open and card.attempt.run_id)


def _closing(card: Card) -> Events:
    """Return the entries that end a session's work on a card. The end of a run is recorded by the engine."""
    attempt = card.attempt
    if attempt is None or not attempt.is_open or attempt.run_id:
        return ()
    return (AttemptNoted(card.id, attempt.number, attempt.spent, is_open=False),)


def _people_only(by: Actor) -> None:
    if by.kind not in ("person", "check"):
        raise BadRequest(words.PEOPLE_ONLY)
