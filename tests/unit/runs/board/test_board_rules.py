"""Rules about who may move which cards on a board."""

import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.boards.card_actions import (
    AddCard,
    ApproveCard,
    CardAction,
    EditCard,
    LinkCard,
    MoveCard,
    NoteResult,
    ParkCard,
    RemoveCard,
    SendBackCard,
    TakeCard,
)
from hermes_acp.core.ports.boards.card_events import (
    AttemptStarted,
    BranchNoted,
    CardAdded,
    CardEvent,
    CardMoved,
    LogEntry,
)
from hermes_acp.core.ports.boards.cards import STATES, Actor, Attempt, CardState, CardWork, Link
from hermes_acp.runs.board.board_fold import Board, fold
from hermes_acp.runs.board.board_rules import events_of

ANN = Actor("person", "ann")
AGENT = Actor("agent", "ses_1")
OTHER = Actor("agent", "ses_2")
CHECK = Actor("check", "tests")


def board_of(*events: CardEvent) -> Board:
    return fold(Board(), [LogEntry(number, 1.0, ANN, event) for number, event in enumerate(events, 1)])


def in_state(state: CardState, *, run_id: str = "b.1.1") -> Board:
    """Return a board with a card in a state, with a run or a session working on it."""
    started = AttemptStarted("1", Attempt(1, "ses_1", run_id))
    return board_of(CardAdded("1", "one"), CardAdded("2", "two"), started, CardMoved("1", state))


def after(board: Board, action: CardAction, by: Actor) -> Board:
    """Return the board after an action."""
    events = events_of(board, action, by)
    return fold(
        board, [LogEntry(board.number + place, 2.0, by, event) for place, event in enumerate(events, 1)]
    )


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("to", ["done", "merging", "ready", "parked", "running"])
@pytest.mark.parametrize("by", [AGENT, OTHER])
def test_a_worker_never_completes_its_own_card_unreviewed(state: CardState, to: CardState, by: Actor) -> None:
    board = in_state(state)
    if state == to:
        assert events_of(board, MoveCard("1", to), by) == ()
        return
    with pytest.raises(BadRequest):
        events_of(board, MoveCard("1", to), by)


@pytest.mark.parametrize(
    "action", [ApproveCard("1"), SendBackCard("1", "more"), ParkCard("1"), RemoveCard("1")]
)
def test_agents_do_not_decide_on_results(action: CardAction) -> None:
    with pytest.raises(BadRequest):
        events_of(in_state("review"), action, AGENT)


def test_an_agent_moves_its_own_card_to_review() -> None:
    board = after(in_state("running", run_id=""), MoveCard("1", "review", result="it works"), AGENT)
    card = board.cards["1"]
    assert (card.state, card.notes.result) == ("review", "it works")
    assert card.attempt
    assert not card.attempt.is_open
    with pytest.raises(BadRequest):
        events_of(in_state("running", run_id=""), MoveCard("1", "review"), OTHER)


def test_the_result_of_a_run_is_recorded_and_reviewed_when_it_ends() -> None:
    card = after(in_state("running"), NoteResult("1", "it works"), AGENT).cards["1"]
    assert (card.state, card.notes.result) == ("running", "it works")
    assert card.attempt
    assert card.attempt.is_open
    assert not card.attempt.is_withdrawn


@pytest.mark.parametrize("to", ["running", "input_required", "merging"])
def test_people_do_not_start_cards_manually(to: CardState) -> None:
    with pytest.raises(BadRequest) as refused:
        events_of(board_of(CardAdded("1", "one")), MoveCard("1", to), ANN)
    assert refused.value.hint


@pytest.mark.parametrize("by", [ANN, CHECK])
def test_a_person_or_a_check_moves_a_card_to_done(by: Actor) -> None:
    assert after(in_state("review"), MoveCard("1", "done"), by).cards["1"].state == "done"


def test_a_result_is_approved_merged_or_sent_back() -> None:
    reviewed = in_state("review")
    assert after(reviewed, ApproveCard("1"), ANN).cards["1"].state == "done"
    branched = fold(reviewed, [LogEntry(9, 2.0, ANN, BranchNoted("1", "/w", "hermes/1"))])
    assert after(branched, ApproveCard("1", "fine"), ANN).cards["1"].state == "merging"
    again = after(reviewed, SendBackCard("1", "add a test"), ANN).cards["1"]
    assert (again.state, again.notes.words) == ("ready", "add a test")
    assert again.comments[-1].text == "add a test"
    for action in (ApproveCard("1"), SendBackCard("1", "more")):
        with pytest.raises(BadRequest):
            events_of(in_state("running"), action, ANN)
    with pytest.raises(BadRequest):
        events_of(reviewed, SendBackCard("1", "  "), ANN)


def test_cycles_are_rejected() -> None:
    board = board_of(CardAdded("1", "one"), CardAdded("2", "two"), CardAdded("3", "three"))
    board = after(board, LinkCard("1", Link("blocks", "2")), ANN)
    board = after(board, LinkCard("2", Link("parent", "3")), ANN)
    for link in (Link("blocks", "1"), Link("parent", "1"), Link("blocks", "3")):
        with pytest.raises(BadRequest, match=r"cycle"):
            events_of(board, LinkCard("3", link), ANN)
    board = after(board, LinkCard("3", Link("found_in", "1")), ANN)
    with pytest.raises(BadRequest, match=r"cycle"):
        events_of(board, LinkCard("1", Link("found_in", "3")), ANN)
    with pytest.raises(BadRequest):
        events_of(board, LinkCard("3", Link("blocks", "7")), ANN)


def test_a_card_has_one_parent() -> None:
    board = board_of(CardAdded("1", "one"), CardAdded("2", "two"), CardAdded("3", "three"))
    board = after(board, LinkCard("3", Link("parent", "1")), ANN)
    with pytest.raises(BadRequest):
        events_of(board, LinkCard("3", Link("parent", "2")), ANN)


def test_a_session_takes_a_card_that_nobody_works_on() -> None:
    board = board_of(
        CardAdded("1", "one", state="ready"), CardAdded("2", "two", links=(Link("blocks", "1"),))
    )
    with pytest.raises(BadRequest, match="waits for 2"):
        events_of(board, TakeCard("1", "ses_1"), ANN)
    board = after(board, MoveCard("2", "done"), ANN)
    taken = after(board, TakeCard("1", "ses_1"), AGENT).cards["1"]
    assert taken.state == "running"
    assert taken.attempt
    assert (taken.attempt.session_id, taken.attempt.run_id) == ("ses_1", "")
    with pytest.raises(BadRequest):
        events_of(in_state("running"), TakeCard("1", "ses_9"), ANN)


def test_parking_a_sessions_card_ends_its_work_at_once() -> None:
    card = after(in_state("running", run_id=""), ParkCard("1", "later"), ANN).cards["1"]
    assert (card.state, card.notes.reason) == ("parked", "later")
    assert card.attempt
    assert not card.attempt.is_open


def test_invalid_requests_are_rejected() -> None:
    for action in (
        AddCard(""),
        AddCard("two\nlines"),
        AddCard("x" * 301),
        AddCard("one", work=CardWork(priority=0)),
        AddCard("one", work=CardWork("relative")),
        AddCard("one", links=(Link("blocks", "1"),)),
        EditCard("7", "other"),
    ):
        with pytest.raises(BadRequest):
            events_of(Board(), action, ANN)


def test_an_edit_that_changes_nothing_writes_nothing() -> None:
    assert (
        events_of(board_of(CardAdded("1", "one", "text")), EditCard("1", "one", "text", CardWork()), ANN)
        == ()
    )
