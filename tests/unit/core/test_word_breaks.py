"""Cuts between words: no partial word remains beside the gap in a shortened text."""

import pytest

from hermes_acp.core.untrusted_text import truncate_middle
from hermes_acp.core.word_breaks import MAX_WORD_CHARACTERS, slice_at_breaks, trim_from_break, trim_to_break

SECRET = "wholeSecretOfManyLetters"
KEY = "ghp_" + "aB3dE5fG7h" * 4
LINE = f'before token="{KEY}" behind and more of it'


@pytest.mark.parametrize("place", range(len(SECRET)))
def test_no_partial_word_remains_beside_a_gap(place: int) -> None:
    half = 4096
    before = "w " * ((half - place) // 2)
    behind = "z " * ((half - place) // 2)
    text = f"{before}{SECRET} {'x ' * half}{SECRET} {behind}"
    shown = truncate_middle(text, 2 * half)
    assert "left out here" in shown
    assert SECRET[:4] not in shown.replace(SECRET, "")
    assert SECRET[-4:] not in shown.replace(SECRET, "")


def test_one_long_word_is_cut_anyway() -> None:
    assert trim_to_break(b"x" * 100) == trim_from_break(b"x" * 100) == b"x" * 100


def test_lines_are_kept_whole_if_one_ends_nearby() -> None:
    assert trim_to_break(b"a" * 90 + b"\none two") == b"a" * 90 + b"\n"
    assert trim_from_break(b"one two\n" + b"a" * 90) == b"a" * 90


@pytest.mark.parametrize("last", range(1, len(LINE)))
def test_a_part_contains_a_key_whole_or_not_at_all(last: int) -> None:
    first, end = slice_at_breaks(LINE, 0, last)
    shown = LINE[first:end]
    assert end <= last
    assert KEY in shown or KEY[:4] not in shown


@pytest.mark.parametrize("first", range(1, len(LINE)))
def test_a_later_part_does_not_start_within_a_key(first: int) -> None:
    begin, end = slice_at_breaks(LINE, first, len(LINE))
    shown = LINE[begin:end]
    assert begin >= first
    assert KEY in shown or KEY[-4:] not in shown


def test_two_consecutive_parts_show_everything() -> None:
    _, end = slice_at_breaks(LINE, 0, 30)
    assert (
        LINE[slice(*slice_at_breaks(LINE, 0, 30))] + LINE[slice(*slice_at_breaks(LINE, end, len(LINE)))]
        == LINE
    )


def test_text_longer_than_any_key_is_cut_at_the_requested_place() -> None:
    text = "x" * (3 * MAX_WORD_CHARACTERS)
    assert slice_at_breaks(text, 0, 2 * MAX_WORD_CHARACTERS) == (0, 2 * MAX_WORD_CHARACTERS)
    assert slice_at_breaks(text, MAX_WORD_CHARACTERS, len(text)) == (MAX_WORD_CHARACTERS, len(text))


def test_a_complete_text_is_unchanged() -> None:
    assert slice_at_breaks(LINE, 0, len(LINE)) == (0, len(LINE))
    assert slice_at_breaks("", 0, 0) == (0, 0)
