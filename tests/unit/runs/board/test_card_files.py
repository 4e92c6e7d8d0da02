"""Cards as files: what is written can be read again, and a person's edit becomes an action."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.core.ports.boards.card_actions import (
    AddCard,
    ApproveCard,
    CommentOnCard,
    EditCard,
    LinkCard,
    MoveCard,
    ParkCard,
)
from hermes_acp.core.ports.boards.card_events import (
    CardAdded,
    CardCommented,
    CardEdited,
    CardEvent,
    CardMoved,
    CardRemoved,
    LogEntry,
)
from hermes_acp.core.ports.boards.cards import Actor, CardWork, Link
from hermes_acp.core.ports.run_ports import RunBudget
from hermes_acp.runs.board.board_fold import Board, fold
from hermes_acp.runs.board.card_documents import parse, render
from hermes_acp.runs.board.card_files import QUIET_S, CardFiles

ANN = Actor("person", "ann")


def local_time(seconds: float) -> str:
    return "2026-11-28 12:00"


def after(board: Board, *events: CardEvent) -> Board:
    entries = [LogEntry(board.number + place, 1.0, ANN, event) for place, event in enumerate(events, 1)]
    return fold(board, entries)


def board_of(*events: CardEvent) -> Board:
    return after(Board(), *events)


WORK = CardWork("/src", "same", "auto", budget=RunBudget(max_steps=9), priority=2, checks=("make test",))
ONE = CardAdded("1", "Make: it #1", "Do *this*.\n\n- a\n- b", "ready", WORK)
TWO = CardAdded("2", "Second", links=(Link("blocks", "1"), Link("found_in", "1")))


@pytest.fixture
def files(tmp_path: Path) -> CardFiles:
    files = CardFiles(tmp_path, local_time)
    assert list(files.edits()) == []
    return files


def path_of(files: CardFiles, card_id: str) -> Path:
    (found,) = files.folder.glob(f"{card_id}-*.md")
    return found


def edited(files: CardFiles, card_id: str, old: str, new: str) -> tuple[object, ...]:
    path = path_of(files, card_id)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    (edit,) = files.edits()
    assert not edit.problem
    return edit.actions


def test_a_file_contains_the_cards_data(files: CardFiles) -> None:
    files.write(
        board_of(ONE, TWO, CardCommented("1", "two\nlines"), CardMoved("1", "review", result="Made."))
    )
    path = path_of(files, "1")
    assert path.name == "1-make-it-1.md"
    assert path.stat().st_mode & 0o077 == 0
    assert path.read_text() == (
        "---\nid: 1\ntitle: 'Make: it #1'\nstate: review\nfolder: /src\nworktree: same\nmode: auto\npriority: 2\n"
        "checks:\n- make test\nmax_steps: 9\n---\n\nDo *this*.\n\n- a\n- b\n\n<!-- result -->\n\nMade.\n\n"
        '<!-- comments: a new line that begins with "- " is a new comment -->\n\n'
        "- [2026-11-28 12:00, ann] two\n  lines\n"
    )
    assert list(files.edits()) == []
    assert list(CardFiles(files.folder.parent, local_time).edits()) == []


def test_an_edit_becomes_actions_for_the_changed_parts_only(files: CardFiles) -> None:
    files.write(board_of(ONE, TWO))
    assert edited(files, "1", "Do *this*.", "Do that.") == (EditCard("1", text="Do that.\n\n- a\n- b"),)
    assert edited(files, "2", "priority: 3", "priority: 1") == (EditCard("2", work=CardWork(priority=1)),)
    files.write(board_of(ONE, TWO))


def test_states_links_and_comments_are_edited(files: CardFiles) -> None:
    files.write(board_of(ONE, TWO, CardMoved("1", "review")))
    assert edited(files, "1", "state: review", "state: done") == (ApproveCard("1"),)
    blocks = "blocks:\n- 1\n"
    assert edited(files, "2", blocks, "parent: 1\n") == (
        LinkCard("2", Link("blocks", "1"), is_removed=True),
        LinkCard("2", Link("parent", "1")),
    )
    fresh = CardFiles(files.folder.parent, local_time)
    path = path_of(fresh, "1")
    path.write_text(path.read_text() + "\n- Well done\n  indeed\n")
    actions = [edit.actions for edit in fresh.edits() if edit.card_id == "1"]
    assert actions == [(CommentOnCard("1", "Well done\nindeed"), ApproveCard("1"))]


def test_a_new_file_is_a_new_card(files: CardFiles) -> None:
    files.write(board_of(ONE))
    (files.folder / "idea.md").write_text(
        "---\ntitle: An idea\nstate: ready\nfolder: /src\nblocks: 1\n---\nTry it.\n"
    )
    (edit,) = files.edits()
    assert edit.actions == (AddCard("An idea", "Try it.", "ready", CardWork("/src"), (Link("blocks", "1"),)),)
    files.accept(edit)
    assert not (files.folder / "idea.md").exists()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("just text", "does not begin with settings"),
        ("---\ntitle: [\n---\n", "not YAML"),
        ("---\nstate: ready\n---\n", "title is missing"),
        ("---\ntitle: a\nstate: later\n---\n", "later is not a state"),
        ("---\ntitle: a\npriority: high\n---\n", "are not valid"),
        ("---\ntitle: a\ncolour: red\n---\n", "colour is not a card setting"),
    ],
)
def test_an_invalid_file_is_set_aside_with_the_reason(files: CardFiles, content: str, said: str) -> None:
    files.write(board_of(ONE))
    path = path_of(files, "1")
    path.write_text(content)
    (edit,) = files.edits()
    assert said in edit.problem
    files.reject(edit, edit.problem)
    files.write(board_of(ONE))
    assert "Do *this*." in path_of(files, "1").read_text()
    (kept,) = (files.folder / ".not-saved").iterdir()
    assert kept.read_text() == f"Not saved: {edit.problem}\n\n{content}"
    assert list(files.edits()) == []


def test_an_edit_made_while_the_board_changes_is_not_overwritten(files: CardFiles) -> None:
    board = board_of(ONE)
    assert list(files.edits()) == []
    files.write(board)
    path = path_of(files, "1")
    path.write_text(path.read_text().replace("Do *this*", "Do mine"))
    files.write(after(board, CardCommented("1", "Meanwhile")))
    assert "Do mine" in path.read_text()
    (edit,) = files.edits()
    assert edit.actions == (EditCard("1", text="Do mine.\n\n- a\n- b"),)


def test_files_follow_the_board(files: CardFiles) -> None:
    board = board_of(ONE, TWO)
    assert list(files.edits()) == []
    files.write(board)
    board = after(board, CardEdited("1", title="Renamed"), CardMoved("2", "parked", "later"))
    files.write(board)
    assert sorted(path.name for path in files.folder.glob("*.md")) == ["1-renamed.md", "2-second.md"]
    assert "reason: later" in path_of(files, "2").read_text()
    path_of(files, "1").unlink()
    assert list(files.edits()) == []
    files.write(board)
    assert path_of(files, "1").exists()
    board = after(board, CardRemoved("2"), CardMoved("1", "done"))
    files.write(board)
    assert [path.name for path in files.folder.glob("*.md")] == []
    assert [path.name for path in files.folder.glob("done/*.md")] == ["1-renamed.md"]
    files.write(after(board, CardMoved("1", "ready")))
    assert [path.name for path in files.folder.rglob("[0-9]*-*.md")] == ["1-renamed.md"]


def test_a_file_that_was_only_touched_is_not_an_edit(files: CardFiles) -> None:
    files.write(board_of(ONE))
    os.utime(path_of(files, "1"))
    assert list(files.edits()) == []
    path_of(files, "1").write_text(path_of(files, "1").read_text() + "\n\n")
    (edit,) = files.edits()
    assert (edit.actions, edit.problem) == ((), "")


def test_parking_is_a_separate_action(files: CardFiles) -> None:
    files.write(board_of(ONE))
    assert edited(files, "1", "state: ready", "state: parked") == (ParkCard("1"),)
    files.write(board_of(TWO))
    assert edited(files, "2", "state: inbox", "state: ready") == (MoveCard("2", "ready"),)


TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc"), include_characters="\n"), max_size=200)


@given(
    title=st.text(min_size=1, max_size=60).filter(
        lambda text: text.strip() == text and "\n" not in text and text.isprintable()
    ),
    text=TEXTS,
)
def test_a_written_file_can_be_read_again(title: str, text: str) -> None:
    card = board_of(CardAdded("1", title, text, work=WORK), CardCommented("1", text or "x")).cards["1"]
    read = parse(render(card, local_time))
    assert (read.title, read.work, read.state, read.new_comments) == (title, WORK, "inbox", ())
    assert read == parse(render(card, local_time))
    if "<!--" not in text:
        assert read.text == text.strip()


def test_a_file_that_is_being_written_is_not_complete_yet(files: CardFiles) -> None:
    at = 1_795_922_658.0
    files.write(board_of(ONE))
    path = path_of(files, "1")
    assert files.settles_in_s(path.stat().st_mtime) == 0
    path.write_text("")
    os.utime(path, (at, at))
    for each in (files, CardFiles(files.folder.parent, local_time)):
        assert each.settles_in_s(at) == QUIET_S
        assert 0 < each.settles_in_s(at + QUIET_S / 2) < QUIET_S
        assert each.settles_in_s(at - QUIET_S / 2) > QUIET_S
        for now in (at + QUIET_S * 2, at - 60):  # An old change, and a clock that ran ahead.
            assert each.settles_in_s(now) == 0
