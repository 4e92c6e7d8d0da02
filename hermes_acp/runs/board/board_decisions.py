"""Decide which runs of cards to start or stop, and what the end of a run means for its card.

These are pure functions of a board and of reports about its runs. `board_coordinator.py` carries out the decisions; any
number of processes may do so at once, because an entry is appended only if the board has not changed since the
decision.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from hermes_acp.core.ports.boards.card_events import AttemptNoted, AttemptStarted, CardEvent, CardMoved
from hermes_acp.core.ports.boards.cards import Attempt, Card, CardState, Spending, run_id_of
from hermes_acp.core.ports.run_ports import ENDED, RunState, RunView
from hermes_acp.runs.board import board_messages as words
from hermes_acp.runs.board.board_fold import Board
from hermes_acp.runs.board.board_reading import blocked_reason, waiting_for

NOT_ACTIVE: Final[tuple[RunState, ...]] = (*ENDED, "parked")
WORKABLE: Final[tuple[CardState, ...]] = ("ready", "running", "input_required")


class RunReport(Struct, frozen=True):
    """A report about the run of an attempt: its state and, from the session's record, its last message and usage."""

    state: RunState
    sentence: str = ""
    question: str = ""
    answer: str = ""
    spent: Spending = Spending()


def open_run_id(card: Card) -> str:
    """Return the ID of the run that is working on a card, or an empty string."""
    attempt = card.attempt
    return attempt.run_id if attempt and attempt.is_open else ""


def has_news(card: Card, run: RunView) -> bool:
    """Return whether a card's state does not yet reflect the end of its run."""
    attempt = card.attempt
    assert attempt, "a run belongs to an attempt"
    if run.state in NOT_ACTIVE:
        return True
    if attempt.is_withdrawn:
        return False
    if run.state == "input_required":
        return card.state in ("ready", "running")
    return run.state == "running" and card.state in ("ready", "input_required")


def report_entries(card: Card, report: RunReport) -> tuple[CardEvent, ...]:
    """Return the entries that update a card from its run."""
    attempt = card.attempt
    assert attempt, "a run belongs to an attempt"
    rests = report.state in NOT_ACTIVE
    noted: tuple[CardEvent, ...] = ()
    if rests or report.spent != attempt.spent:
        noted = (AttemptNoted(card.id, attempt.number, report.spent, is_open=not rests),)
    if attempt.is_withdrawn or card.state not in WORKABLE:
        return noted if rests else ()
    match report.state:
        case "done":
            is_noted = card.notes.attempt == attempt.number
            moved = CardMoved(card.id, _after_done(card), result="" if is_noted else report.answer)
        case "failed" | "stopped" | "parked":
            reason = report.sentence or words.ended(report.state)
            moved = CardMoved(card.id, "parked", reason)
        case "input_required":
            moved = CardMoved(card.id, "input_required", report.question or report.sentence)
        case "running":
            moved = CardMoved(card.id, "running")
        case "queued":
            return noted
    return (*noted, moved)


def _after_done(card: Card) -> CardState:
    """Return the state that follows finished work: review, by a person or by checks that may accept it."""
    attempt = card.attempt
    has_branch = bool(attempt and attempt.branch)
    return "merging" if card.work.approval == "checks" and has_branch else "review"


def runs_to_stop(board: Board, runs: Mapping[str, RunView]) -> Iterator[str]:
    """Yield the runs that must stop."""
    for card in (*board.cards.values(), *(each.card for each in board.removed.values())):
        run = runs.get(open_run_id(card))
        if run and card.attempt and card.attempt.is_withdrawn and run.state not in NOT_ACTIVE:
            yield run.order.id


def starts(board: Board, name: str, fresh_session: Callable[[], str], now: float) -> list[CardEvent]:
    """Return the entries that start attempts on ready cards, within the board's limits."""
    if blocked_reason(board):
        return []
    limit = board.settings.max_running
    room = None if limit is None else limit - sum(map(_is_active, board.cards.values()))
    events: list[CardEvent] = []
    for card in ready_cards(board):
        if not card.work.folder:
            events.append(CardMoved(card.id, "parked", words.NO_FOLDER))
            continue
        if room is not None and room <= 0:
            break
        events.append(AttemptStarted(card.id, _next_attempt(card, name, fresh_session, now)))
        room = None if room is None else room - 1
    return events


def ready_cards(board: Board) -> list[Card]:
    """List the cards that can be started, by priority and age."""
    found = [
        card
        for card in board.cards.values()
        if card.state == "ready"
        and not (card.attempt and card.attempt.is_open)
        and not waiting_for(board, card.id)
    ]
    return sorted(found, key=lambda card: (card.work.priority, card.created.at, card.id))


def _is_active(card: Card) -> bool:
    """Return whether a card's run counts against the board's limits. A run that waits for a person does not."""
    return bool(open_run_id(card)) and card.state != "input_required"


def _next_attempt(card: Card, name: str, fresh_session: Callable[[], str], now: float) -> Attempt:
    """Return the next attempt at a card, with the session and branch of the last one if its folder still exists."""
    last = card.attempt
    number = last.number + 1 if last else 1
    run_id = run_id_of(name, card.id, number)
    if last is None or not last.folder:
        return Attempt(number, fresh_session(), run_id, now)
    return Attempt(
        number,
        last.session_id,
        run_id,
        now,
        folder=last.folder,
        branch=last.branch,
        base=last.base,
        machine=last.machine,
    )


def unstarted(board: Board, runs: Mapping[str, RunView]) -> Iterable[Card]:
    """Return the cards whose attempt has a run that never reached the engine."""
    return [
        card
        for card in board.cards.values()
        if (run_id := open_run_id(card))
        and run_id not in runs
        and card.attempt
        and not card.attempt.is_withdrawn
    ]


def detached(board: Board) -> list[CardEvent]:
    """Return the entries that park the cards whose runs belong to an engine that the board no longer uses."""
    events: list[CardEvent] = []
    for card in board.cards.values():
        if open_run_id(card) and card.attempt:
            events.append(AttemptNoted(card.id, card.attempt.number, card.attempt.spent, is_open=False))
            if card.state in WORKABLE:
                events.append(CardMoved(card.id, "parked", words.IMPORTED))
    return events


def never_started(board: Board, runs: Mapping[str, RunView]) -> list[CardEvent]:
    """Return the entries that end attempts withdrawn before their run reached the engine."""
    return [
        AttemptNoted(card.id, card.attempt.number, card.attempt.spent, is_open=False)
        for card in board.cards.values()
        if card.attempt and card.attempt.is_withdrawn and (run_id := open_run_id(card)) and run_id not in runs
    ]
