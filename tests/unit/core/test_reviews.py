"""Open reviews of edits that were made without approval, derived from events."""

from hermes_acp.core.event_types import Diff, EditsJudged
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    NoteAdded,
    PermissionAnswered,
    PermissionAsked,
    TurnEnded,
    TurnStarted,
)
from hermes_acp.core.record.edit_reviews import Reviews, judgement, span_of
from hermes_acp.core.record.session_record import Record

PATH = "/p/a.txt"


def edit(call_id: str, old: str | None, new: str, *, path: str = PATH, deleted: bool = False) -> CallEnded:
    return CallEnded(
        call_id, "write_file", "completed", "", diffs=(Diff(path, old, new, is_deleted=deleted),)
    )


def decide(reviews: Reviews, verdict: str, *numbers: int) -> None:
    review = reviews.find(PATH)
    assert review
    chosen, parts = judgement(review, verdict, numbers or None)
    said = "accepted" if verdict == "accepted" else "rejected"
    reviews.apply(EditsJudged(PATH, said, tuple(map(span_of, chosen)), parts))


def texts(reviews: Reviews) -> tuple[str | None, str | None] | None:
    review = reviews.find(PATH)
    return (review.before, review.after) if review else None


def test_edits_of_one_file_are_one_review() -> None:
    reviews = Reviews()
    reviews.apply(edit("c1", "one\ntwo", "ONE\ntwo"))
    reviews.apply(edit("c2", "ONE\ntwo", "ONE\nTWO"))
    assert texts(reviews) == ("one\ntwo", "ONE\nTWO")
    assert reviews.open[0].call_ids == ("c1", "c2")


def test_accepting_or_rejecting_every_hunk_ends_the_review() -> None:
    reviews = Reviews()
    reviews.apply(edit("c1", "one\ntwo\nthree", "ONE\ntwo\nTHREE"))
    decide(reviews, "accepted", 1)
    assert texts(reviews) == ("one\ntwo\nTHREE", "ONE\ntwo\nTHREE")
    decide(reviews, "rejected", 0)
    assert reviews.open == ()
    assert [event.parts for event in reviews.untold] == [("at line 1:\n-one\n+ONE",)]
    reviews.apply(NoteAdded("told", tells_edits=True))
    assert reviews.untold == ()


def test_an_approved_edit_needs_no_review() -> None:
    reviews = Reviews()
    reviews.apply(CallProposed("c1", "write_file", "Write", "edit", diffs=(Diff(PATH, "a", "b"),)))
    reviews.apply(PermissionAsked("c1"))
    assert [call.call_id for call in reviews.waiting] == ["c1"]
    reviews.apply(PermissionAnswered("c1", "allow_once"))
    reviews.apply(edit("c1", "a", "b"))
    assert (reviews.open, reviews.waiting) == ((), ())


def test_an_approved_new_file_needs_no_review() -> None:
    reviews = Reviews()
    reviews.apply(PermissionAsked("c1"))
    reviews.apply(edit("c1", None, "fresh\n"))
    assert reviews.open == ()
    reviews.apply(edit("c2", "fresh\n", "changed\n"))
    assert texts(reviews) == ("fresh\n", "changed\n")


def test_a_new_file_stays_open_when_another_edit_to_it_is_approved() -> None:
    reviews = Reviews()
    reviews.apply(edit("c1", None, "fresh\n"))
    reviews.apply(PermissionAsked("c2"))
    reviews.apply(edit("c2", "fresh\n", "changed\n"))
    assert texts(reviews) == (None, "changed\n")


def test_an_approved_edit_leaves_open_hunks_open() -> None:
    reviews = Reviews()
    reviews.apply(edit("c1", "one\ntwo\nthree", "ONE\ntwo\nthree"))
    reviews.apply(PermissionAsked("c2"))
    reviews.apply(edit("c2", "ONE\ntwo\nthree", "ONE\ntwo\nTHREE"))
    assert texts(reviews) == ("one\ntwo\nTHREE", "ONE\ntwo\nTHREE")


def test_changes_by_others_between_two_edits_count_as_accepted() -> None:
    reviews = Reviews()
    reviews.apply(edit("c1", "one\ntwo\nthree", "ONE\ntwo\nthree"))
    reviews.apply(edit("c2", "ONE\ntwo\nthree\nmine", "ONE\nTWO\nthree\nmine"))
    assert texts(reviews) == ("one\ntwo\nthree\nmine", "ONE\nTWO\nthree\nmine")


def test_new_and_deleted_files_are_one_hunk() -> None:
    reviews = Reviews()
    reviews.apply(edit("c1", None, "fresh\n"))
    assert [len(each.hunks) for each in reviews.open] == [1]
    decide(reviews, "rejected")
    reviews.apply(edit("c2", "old", "", deleted=True))
    assert texts(reviews) == ("old", None)
    decide(reviews, "accepted")
    assert reviews.open == ()


def test_a_part_of_a_large_file_is_merged_into_the_known_text() -> None:
    reviews = Reviews()
    reviews.apply(edit("c1", "a\nb\nc\nd", "A\nb\nc\nd"))
    reviews.apply(edit("c2", "c\nd", "c\nD"))
    assert texts(reviews) == ("a\nb\nc\nd", "A\nb\nc\nD")


def test_an_edit_undone_by_another_needs_no_review() -> None:
    reviews = Reviews()
    reviews.apply(edit("c1", "a", "b"))
    reviews.apply(edit("c2", "b", "a"))
    assert reviews.open == ()


def test_a_failed_call_leaves_nothing_to_review() -> None:
    reviews = Reviews()
    reviews.apply(CallEnded("c1", "write_file", "failed", "", diffs=(Diff(PATH, "a", "b"),)))
    assert reviews.open == ()


def test_the_number_of_reviews_is_limited_and_the_oldest_is_dropped() -> None:
    reviews = Reviews()
    for number in range(250):
        reviews.apply(edit(f"c{number}", "a", "b", path=f"/p/{number}"))
    assert len(reviews.open) == 200
    assert reviews.find("/p/0") is None


def test_a_result_that_no_model_answered_is_reported_again() -> None:
    record = Record()
    record.apply(edit("c1", "a", "b"))
    decide(record.reviews, "rejected")
    record.apply(TurnStarted("t1"))
    record.apply(NoteAdded("told", tells_edits=True))
    assert record.reviews.untold == ()
    record.apply(TurnEnded("t1", "model_trouble"))
    assert len(record.reviews.untold) == 1


def test_an_edit_with_masked_keys_is_not_reviewed_because_its_texts_differ_from_the_file() -> None:
    reviews = Reviews()
    reviews.apply(edit("c1", "one", "two"))
    masked = Diff(PATH, "key = [secret: x]", "KEY = [secret: x]", is_masked=True)
    reviews.apply(CallEnded("c2", "write_file", "completed", "", diffs=(masked,)))
    assert reviews.open == ()
