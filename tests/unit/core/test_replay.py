"""Replay of a session's history: which events are shown again."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.core.event_types import Diff
from hermes_acp.core.events import (
    CallEnded,
    CallProgressed,
    CallProposed,
    Event,
    Noticed,
    TextSaid,
    ThoughtSaid,
    UsageChanged,
)
from hermes_acp.core.record.session_replay import PAYLOAD_CHARACTERS, replayable


def test_the_use_of_the_window_is_shown_once_with_its_current_value() -> None:
    past = [
        UsageChanged(1, 9),
        TextSaid("m1", "a"),
        UsageChanged(2, 9),
        TextSaid("m1", "b"),
        UsageChanged(3, 9),
    ]
    assert list(replayable(past)) == [TextSaid("m1", "ab"), UsageChanged(3, 9)]


MESSAGES = st.sampled_from(("m1", "m2"))
WORDS = st.one_of(
    st.builds(TextSaid, MESSAGES, st.text(max_size=4)), st.builds(ThoughtSaid, MESSAGES, st.text(max_size=4))
)
OTHERS: tuple[Event, ...] = (
    CallProposed("c", "tool", "A call", "other"),
    CallProgressed("c", "output"),
    CallEnded("c", "tool", "failed", "no"),
    Noticed("warning", "odd"),
)
EVENTS = st.lists(st.one_of(WORDS, st.sampled_from(OTHERS)), max_size=30)


def words(events: list[Event]) -> list[tuple[type[Event], str, str]]:
    """Return all text by kind and message, frames joined, in order of first appearance."""
    joined: dict[tuple[type[Event], str], str] = {}
    for event in events:
        if isinstance(event, TextSaid | ThoughtSaid):
            key = (type(event), event.message_id)
            joined[key] = joined.get(key, "") + event.text
    return [(kind, message, text) for (kind, message), text in joined.items()]


@given(EVENTS)
def test_no_text_is_lost_or_reordered(events: list[Event]) -> None:
    again = list(replayable(events))
    assert words(again) == words(events)
    kept = [event for event in events if isinstance(event, CallProposed | CallEnded)]
    assert [event for event in again if not isinstance(event, TextSaid | ThoughtSaid)] == kept


@given(EVENTS)
def test_adjacent_frames_of_one_message_are_joined(events: list[Event]) -> None:
    again = list(replayable(events))
    for one, next_one in pairwise(again):
        if isinstance(one, TextSaid | ThoughtSaid) and isinstance(next_one, TextSaid | ThoughtSaid):
            assert (type(one), one.message_id) != (type(next_one), next_one.message_id)


@given(EVENTS)
def test_replaying_a_replay_changes_nothing(events: list[Event]) -> None:
    again = list(replayable(events))
    assert list(replayable(again)) == again


def test_ten_thousand_frames_become_one() -> None:
    frames: list[Event] = [TextSaid("m", "w ")] * 10_000
    assert list(replayable(frames)) == [TextSaid("m", "w " * 10_000)]


def test_large_tool_payloads_are_cut_with_a_note_but_text_is_not() -> None:
    long = "x" * (PAYLOAD_CHARACTERS + 1000)
    huge = Diff("/a", None, "y" * (5 * PAYLOAD_CHARACTERS))
    events: list[Event] = [
        TextSaid("m1", long),
        CallProposed("c", "tool", "A call", "edit", {"content": long}, diffs=(huge,)),
        CallEnded("c", "tool", "completed", long, diffs=(huge, Diff("/b", "1", "2"))),
    ]
    said, proposed, ended = replayable(events)
    assert said == events[0]
    assert isinstance(proposed, CallProposed)
    assert isinstance(ended, CallEnded)
    assert proposed.diffs == ()
    assert long not in str(proposed.raw_input)
    assert ended.diffs == (Diff("/b", "1", "2"),)
    assert len(ended.text) < PAYLOAD_CHARACTERS + 500
    assert "1,000 more characters" in ended.text
    assert "/a is too large" in ended.text


def test_ordinary_calls_are_replayed_unchanged() -> None:
    call = CallProposed("c", "tool", "A call", "edit", {"path": "a"}, diffs=(Diff("/b", "1", "2"),))
    assert list(replayable([call])) == [call]
