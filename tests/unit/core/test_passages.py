"""Rendering a record's events as text passages."""

from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CommandAnswered,
    Event,
    StepEnded,
    StepFailed,
    TextSaid,
    ThoughtSaid,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.messages import ImagePart, LinkPart, ResourcePart, TextPart, ToolCall
from hermes_acp.core.record.passages import Passage, PassageReader, passages_of

CALLS = (ToolCall("c1", "read_file", "{}"), ToolCall("c2", "terminal", "{}"))
EVENTS: tuple[Event, ...] = (
    TurnStarted("t"),
    UserSaid(
        "m1", (TextPart("Look"), LinkPart("file:///a", "a.txt"), ResourcePart("file:///b", "whole file"))
    ),
    ThoughtSaid("m2", "Hm"),
    TextSaid("m2", "I "),
    TextSaid("m2", "look."),
    StepEnded("m2", CALLS),
    CallProposed("c1", "read_file", "Read a.txt", "read"),
    CallProposed("c2", "terminal", "Run ls", "execute"),
    CallEnded("c2", "terminal", "completed", "a.txt"),
    CallEnded("c1", "read_file", "failed", "There is none."),
    TextSaid("m3", "Once"),
    StepFailed("m3", "cut", retried=True),
    TextSaid("m3", "Done."),
    StepEnded("m3"),
    TurnEnded("t", "done"),
    CommandAnswered("m4", "/status", "All is well."),
)
PASSAGES = [
    Passage(1, "user", "Look\na.txt\nfile:///b"),
    Passage(2, "agent", "I look."),
    Passage(3, "tool", "Read a.txt\nThere is none."),
    Passage(4, "tool", "Run ls\na.txt"),
    Passage(6, "agent", "Done."),
    Passage(7, "user", "/status"),
    Passage(8, "agent", "All is well."),
]


def test_every_speaker_has_a_position_and_undone_text_has_none() -> None:
    assert passages_of(EVENTS) == PASSAGES


def test_unfinished_text_is_returned_as_it_is() -> None:
    half = (*EVENTS[:5], CallProposed("c9", "x", "Try x", "other"))
    assert passages_of(half) == [PASSAGES[0], Passage(2, "agent", "I look."), Passage(3, "tool", "Try x")]


def test_reading_can_resume_at_every_settled_position() -> None:
    settled = 0
    for cut in range(len(EVENTS) + 1):
        first = PassageReader()
        for event in EVENTS[:cut]:
            first.take(event)
        if not first.is_settled:
            continue
        settled += 1
        second = PassageReader(first.position)
        for event in EVENTS[cut:]:
            second.take(event)
        found = sorted((*first.finished, *second.finished), key=lambda passage: passage.position)
        assert found == PASSAGES
    assert 5 < settled < len(EVENTS)


def test_an_outcome_without_a_card_and_an_image_without_text() -> None:
    events: tuple[Event, ...] = (
        UserSaid("m", (ImagePart("image/png", ""),)),
        CallEnded("c", "odd", "failed", "There is no tool 'odd'."),
    )
    assert passages_of(events) == [Passage(1, "user", ""), Passage(2, "tool", "odd\nThere is no tool 'odd'.")]
