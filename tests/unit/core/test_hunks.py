"""Hunks: accepting any selection of them has the right result."""

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.core.hunks import apply_hunks, describe_hunk, diff_hunks, revert_hunks

TEXTS = st.lists(st.sampled_from(["a", "b", "c", "", "}"]), max_size=12).map("\n".join)


@given(TEXTS, TEXTS)
def test_accepting_all_or_no_hunks_gives_the_new_or_the_old_text(before: str, after: str) -> None:
    hunks = diff_hunks(before, after)
    assert apply_hunks(before, hunks) == after
    assert apply_hunks(before, ()) == before
    assert revert_hunks(after, hunks) == (before, ())


@given(TEXTS, TEXTS, st.sets(st.integers(0, 12)))
def test_accepting_and_rejecting_hunks_are_consistent(before: str, after: str, chosen: set[int]) -> None:
    hunks = diff_hunks(before, after)
    taken = [hunk for number, hunk in enumerate(hunks) if number in chosen]
    left = [hunk for number, hunk in enumerate(hunks) if number not in chosen]
    assert apply_hunks(before, taken) == revert_hunks(after, left)[0]


def test_a_hunk_is_undone_although_others_typed_elsewhere() -> None:
    before, after = "one\ntwo\nthree\nfour", "ONE\ntwo\nthree\nFOUR"
    now = "ONE\ntwo\nnew\nthree\nFOUR\nend"
    assert revert_hunks(after, diff_hunks(before, after), now) == (
        "one\ntwo\nnew\nthree\nfour\nend",
        (),
    )


def test_a_hunk_that_others_changed_is_left_and_named() -> None:
    before, after = "one\ntwo\nthree", "ONE\ntwo\nTHREE"
    text, lost = revert_hunks(after, diff_hunks(before, after), "One!\ntwo\nTHREE")
    assert text == "One!\ntwo\nthree"
    assert [hunk.new_lines for hunk in lost] == [("ONE",)]


def test_too_many_lines_are_one_hunk() -> None:
    before = "\n".join(f"line {number}" for number in range(4000))
    after = "\n".join(f"LINE {number}" for number in range(4000))
    assert len(diff_hunks(before, after)) == 1


def test_the_description_of_a_hunk_is_limited() -> None:
    (hunk,) = diff_hunks("head", "head\n" + "\n".join(str(number) for number in range(40)))
    assert describe_hunk(hunk).splitlines()[:2] == ["at line 2:", "+0"]
    assert describe_hunk(hunk).endswith("… 28 more lines")
