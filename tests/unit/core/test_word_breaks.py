"""Cuts between words: whatever is left out of a long text, no half of a word stays beside the gap."""

import pytest

from hermes_acp.core.untrusted import bounded
from hermes_acp.core.word_breaks import from_a_break, to_a_break

SECRET = "wholeSecretOfManyLetters"


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
