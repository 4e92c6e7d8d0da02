"""Cuts between words: whatever is left out of a long text, no half of a word stays beside the gap."""

import pytest

from hermes_acp.core.untrusted import bounded
from hermes_acp.core.word_breaks import LONGEST_WORD, from_a_break, to_a_break, within_breaks

SECRET = "wholeSecretOfManyLetters"
KEY = "ghp_" + "aB3dE5fG7h" * 4
LINE = f'before token="{KEY}" behind and more of it'


@pytest.mark.parametrize("place", range(len(SECRET)))
def test_no_half_of_a_word_stays_beside_a_gap(place: int) -> None:
    half = 4096
    before = "w " * ((half - place) // 2)
    behind = "z " * ((half - place) // 2)
    text = f"{before}{SECRET} {'x ' * half}{SECRET} {behind}"
    shown = bounded(text, 2 * half)
    assert "left out here" in shown
    assert SECRET[:4] not in shown.replace(SECRET, "")
    assert SECRET[-4:] not in shown.replace(SECRET, "")


def test_one_long_word_is_cut_all_the_same() -> None:
    assert to_a_break(b"x" * 100) == from_a_break(b"x" * 100) == b"x" * 100


def test_lines_are_kept_whole_where_one_ends_nearby() -> None:
    assert to_a_break(b"a" * 90 + b"\none two") == b"a" * 90 + b"\n"
    assert from_a_break(b"one two\n" + b"a" * 90) == b"a" * 90


@pytest.mark.parametrize("last", range(1, len(LINE)))
def test_a_part_holds_a_key_whole_or_not_at_all(last: int) -> None:
    first, end = within_breaks(LINE, 0, last)
    shown = LINE[first:end]
    assert end <= last
    assert KEY in shown or KEY[:4] not in shown


@pytest.mark.parametrize("first", range(1, len(LINE)))
def test_a_later_part_does_not_begin_within_a_key(first: int) -> None:
    begin, end = within_breaks(LINE, first, len(LINE))
    shown = LINE[begin:end]
    assert begin >= first
    assert KEY in shown or KEY[-4:] not in shown


def test_two_parts_on_end_show_everything_where_the_second_begins_behind_the_first() -> None:
    _, end = within_breaks(LINE, 0, 30)
    assert (
        LINE[slice(*within_breaks(LINE, 0, 30))] + LINE[slice(*within_breaks(LINE, end, len(LINE)))] == LINE
    )


def test_what_is_longer_than_any_key_is_cut_where_it_is_asked_for() -> None:
    text = "x" * (3 * LONGEST_WORD)
    assert within_breaks(text, 0, 2 * LONGEST_WORD) == (0, 2 * LONGEST_WORD)
    assert within_breaks(text, LONGEST_WORD, len(text)) == (LONGEST_WORD, len(text))


def test_a_whole_text_stays_whole() -> None:
    assert within_breaks(LINE, 0, len(LINE)) == (0, len(LINE))
    assert within_breaks("", 0, 0) == (0, 0)
