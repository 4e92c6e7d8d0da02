"""A board is folded from its log: from any prefix and any order of entries, never into an invalid state."""

import random

import pytest

from hermes_acp.core.ports.boards.card_events import (
    AttemptNoted,
    AttemptStarted,
    CardAdded,
    CardEdited,
    CardEvent,
    CardLinked,
    CardMoved,
    CardRemoved,
    CardRestored,
    LogEntry,
)
from hermes_acp.core.ports.boards.cards import ENGINE, STATES, Actor, Attempt, Link, Spending
from hermes_acp.runs.board.board_fold import Board, fold
from hermes_acp.runs.board.board_reading import changes_after, waiting_for
from hermes_acp.runs.board.card_links import WAITING
from tests.unit.runs.board.random_entries import random_log

ANN = Actor("person", "ann")


def logged(*events: CardEvent, by: Actor = ANN) -> list[LogEntry]:
    return [LogEntry(number, float(number), by, event) for number, event in enumerate(events, 1)]


def assert_consistent(board: Board) -> None:
    """Check what must be true of every board."""
    assert not set(board.cards) & set(board.removed)
    edges: set[tuple[str, str, str]] = set()
    for key, card in board.cards.items():
        assert card.id == key
        assert card.state in STATES
        assert len(set(card.links)) == len(card.links)
        edges |= {(link.card_id, link.kind, key) for link in card.links}
    assert edges == {(to, kind, of) for to, links in board.incoming.items() for kind, of in links}
    assert all(to in board.cards for to, _, _ in edges)
    for kinds in (WAITING, {"found_in"}):
        pairs = {(of, to) for to, kind, of in edges if kind in kinds}
        open_ids = set(board.cards)
        while free := {
            each for each in open_ids if not any(of in open_ids and to == each for of, to in pairs)
        }:
            open_ids -= free
        assert not open_ids, "a cycle"


@pytest.mark.parametrize("seed", range(60))
def test_any_order_of_entries_folds_into_a_consistent_board(seed: int) -> None:
    log = random_log(seed)
    random.Random(seed).shuffle(log)
    board = Board()
    for entry in log:
        before, number = board, board.number
        board = fold(board, [entry])
        assert_consistent(board)
        assert before.number == number, "the fold changed its argument"
        for card in before.cards.values():
            now = board.cards.get(card.id)
            if now and card.attempt:
                assert now.attempt
                assert now.attempt.number >= card.attempt.number


@pytest.mark.parametrize("seed", range(20))
def test_the_log_is_folded_from_any_prefix(seed: int) -> None:
    log = random_log(seed)
    whole = fold(Board(), log)
    for cut in range(len(log)):
        assert fold(fold(Board(), log[:cut]), log[cut:]) == whole


def test_cycles_are_ignored_by_the_fold() -> None:
    log = logged(
        *(CardAdded(str(number), "a card") for number in (1, 2, 3)),
        CardLinked("1", Link("blocks", "2")),
        CardLinked("2", Link("parent", "3")),
        CardLinked("3", Link("blocks", "1")),
        CardLinked("1", Link("blocks", "1")),
        CardLinked("1", Link("found_in", "2")),
        CardLinked("2", Link("found_in", "1")),
    )
    board = fold(Board(), log)
    assert [len(board.cards[each].links) for each in ("1", "2", "3")] == [2, 1, 0]


def test_a_card_waits_for_its_blockers_and_its_children() -> None:
    log = logged(
        CardAdded("1", "parent"),
        CardAdded("2", "child", links=(Link("parent", "1"),)),
        CardAdded("3", "blocker", links=(Link("blocks", "1"),)),
        CardAdded("4", "found", links=(Link("found_in", "1"),)),
    )
    board = fold(Board(), log)
    assert waiting_for(board, "1") == ("2", "3")
    board = fold(board, [LogEntry(5, 5.0, ANN, CardMoved("2", "done"))])
    assert waiting_for(board, "1") == ("3",)
    assert waiting_for(fold(board, [LogEntry(6, 6.0, ANN, CardRemoved("3"))]), "1") == ()


def test_a_removed_card_is_restored_with_its_links() -> None:
    log = logged(
        CardAdded("1", "one"),
        CardAdded("2", "two", links=(Link("blocks", "1"),)),
        CardLinked("1", Link("found_in", "2")),
        CardRemoved("1"),
    )
    removed = fold(Board(), log)
    assert removed.cards["2"].links == ()
    back = fold(removed, [LogEntry(5, 5.0, ANN, CardRestored("1"))])
    assert waiting_for(back, "1") == ("2",)
    assert back.cards["1"].links == (Link("found_in", "2"),)


def test_spending_is_counted_once_however_often_it_is_recorded() -> None:
    started = AttemptStarted("1", Attempt(1, "ses_1", "b.1.1"))
    notes = [AttemptNoted("1", 1, Spending(10, 0.5)), AttemptNoted("1", 1, Spending(10, 0.5))]
    more = AttemptNoted("1", 1, Spending(30, 1.5), is_open=False)
    board = fold(Board(), logged(CardAdded("1", "one"), started, *notes, more, by=ENGINE))
    assert board.spent == board.cards["1"].spent == Spending(30, 1.5)


def test_a_change_by_a_person_withdraws_the_run() -> None:
    started = AttemptStarted("1", Attempt(1, "ses_1", "b.1.1"))
    base = (CardAdded("1", "one", state="ready"), started)
    for event, is_withdrawn in (
        (CardEdited("1", text="more"), True),
        (CardMoved("1", "parked"), True),
        (CardMoved("1", "running", result="so far"), False),
    ):
        attempt = fold(Board(), logged(*base, event)).cards["1"].attempt
        assert attempt
        assert attempt.is_withdrawn is is_withdrawn


def test_comments_for_the_next_attempt_stay_until_it_runs() -> None:
    log = logged(
        CardAdded("1", "one", state="ready"), CardMoved("1", "ready", words="again"), CardMoved("1", "parked")
    )
    board = fold(Board(), log)
    assert board.cards["1"].notes.words == "again"
    assert fold(board, [LogEntry(4, 4.0, ENGINE, CardMoved("1", "running"))]).cards["1"].notes.words == ""


def test_changes_after_a_cursor_name_each_card_once() -> None:
    log = logged(
        CardAdded("1", "one"),
        CardAdded("2", "two"),
        CardMoved("1", "ready"),
        CardMoved("1", "parked"),
        CardRemoved("2"),
    )
    board = fold(Board(), log)
    changes = changes_after(board, "b", 2)
    assert [view.card.id for view in changes.cards] == ["1"]
    assert (changes.removed, changes.board.cursor) == (("2",), 5)
