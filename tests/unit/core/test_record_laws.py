"""The invariants of a history, whatever happened and wherever it was cut off."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.core.event_types import Grant, Mode
from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    ModeChanged,
    NoteAdded,
    PermissionAnswered,
    PermissionAsked,
    SessionOpened,
    StepEnded,
    StepFailed,
    TextSaid,
    ThoughtSaid,
    TitleChanged,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.messages import AssistantMessage, TextPart, ToolCall, ToolMessage, UserMessage
from hermes_acp.core.record.session_record import Record

MODES: tuple[Mode, ...] = ("ask", "accept_edits", "plan")
OPENED = SessionOpened("ses_1", "/project", ("/project",), 1.0)


@st.composite
def steps(draw: st.DrawFn, turn: int, step: int) -> list[Event]:
    """Generate one model call with its calls and their outcomes, or one that failed."""
    message = f"msg_{turn}_{step}"
    events: list[Event] = [
        TextSaid(message, text) for text in draw(st.lists(st.text(max_size=5), max_size=3))
    ]
    if draw(st.booleans()):
        events.insert(0, ThoughtSaid(message, "hm"))
    if draw(st.integers(0, 4)) == 0:
        return [*events, StepFailed(message, "broken", retried=draw(st.booleans()))]
    calls = tuple(ToolCall(f"call_{turn}_{step}_{n}", "tool", "{}") for n in range(draw(st.integers(0, 3))))
    events.append(StepEnded(message, calls))
    for call in calls:
        events.append(CallProposed(call.id, call.name, "A call", "other"))
        if draw(st.booleans()):
            grants = (Grant("write", "/project/a", draw(st.booleans())),)
            events += [PermissionAsked(call.id), PermissionAnswered(call.id, "allow_always", grants)]
        status = draw(st.sampled_from(("completed", "failed", "cancelled")))
        events += [CallStarted(call.id), CallEnded(call.id, call.name, status, "an outcome")]
    return events


@st.composite
def sessions(draw: st.DrawFn) -> list[Event]:
    """Generate a valid session, cut off anywhere after its first event."""
    events: list[Event] = [OPENED]
    for turn in range(draw(st.integers(0, 4))):
        mode = draw(st.sampled_from((None, *MODES)))
        if mode:
            events.append(ModeChanged(mode))
        events += [TurnStarted(f"turn_{turn}"), UserSaid(f"user_{turn}", (TextPart(f"prompt {turn}"),))]
        if mode:
            events.append(NoteAdded(f"mode is {mode}", mode))
        for step in range(draw(st.integers(0, 3))):
            events += draw(steps(turn, step))
        events.append(
            TurnEnded(f"turn_{turn}", draw(st.sampled_from(("done", "cancelled", "model_trouble"))))
        )
        events.append(TitleChanged(f"title {turn}"))
    return events[: draw(st.integers(1, len(events)))]


def record_of(events: list[Event]) -> Record:
    record = Record()
    for event in events:
        record.apply(event)
    return record


def closed(events: list[Event]) -> Record:
    record = record_of(events)
    for end in record.closing_events():
        record.apply(end)
    return record


@given(sessions())
def test_every_call_has_exactly_one_outcome_directly_after_its_step(events: list[Event]) -> None:
    expected: list[str] = []
    for message in closed(events).messages:
        if isinstance(message, ToolMessage):
            assert expected.pop(0) == message.call_id
        else:
            assert expected == []
        if isinstance(message, AssistantMessage):
            expected = [call.id for call in message.tool_calls]
    assert expected == []


@given(sessions())
def test_closing_an_open_session_closes_everything(events: list[Event]) -> None:
    record = closed(events)
    assert record.closing_events() == []
    assert record.open_turn == ""


@given(sessions())
def test_closed_calls_were_shown_before(events: list[Event]) -> None:
    shown = {event.call_id for event in events if isinstance(event, CallProposed)}
    for end in record_of(events).closing_events():
        if isinstance(end, CallProposed):
            shown.add(end.call_id)
        elif isinstance(end, CallEnded):
            assert end.call_id in shown


@given(sessions())
def test_a_record_read_back_equals_the_live_state(events: list[Event]) -> None:
    written = [msgspec.json.encode(event) for event in events]
    read = [msgspec.json.decode(line, type=Event) for line in written]
    lived, found = (
        {**vars(closed(each)), "sent": None} for each in (events, read)
    )  # Derived from the other fields.
    assert lived == found


@given(sessions())
def test_a_turn_without_model_output_leaves_no_trace(events: list[Event]) -> None:
    messages = closed(events).messages
    for number, message in enumerate(messages):
        if isinstance(message, UserMessage):
            following = next((m for m in messages[number:] if not isinstance(m, UserMessage)), None)
            assert isinstance(following, AssistantMessage)


@given(sessions(), st.data())
def test_the_history_only_grows_while_a_turn_continues(events: list[Event], data: st.DataObject) -> None:
    cut = data.draw(st.integers(1, len(events)))
    before, after = record_of(events[:cut]), record_of(events)
    if not any(isinstance(event, TurnEnded) for event in events[cut:]):
        assert after.messages[: len(before.messages)] == before.messages


def test_a_later_grant_replaces_the_earlier_one_for_the_same_subject() -> None:
    record = Record()
    for allowed in (True, False):
        record.apply(PermissionAnswered("c", "allow_always", (Grant("write", "/a", allowed),)))
    record.apply(PermissionAnswered("c", "allow_always", (Grant("run", "/a", True),)))
    assert record.grants == (Grant("write", "/a", False), Grant("run", "/a", True))


def test_an_interrupted_answer_is_kept_with_a_mark_and_a_retried_one_is_dropped() -> None:
    start: list[Event] = [TurnStarted("t"), UserSaid("u", (TextPart("go"),)), TextSaid("m", "Half")]
    kept = record_of([*start, StepFailed("m", "cut", retried=False)])
    assert kept.messages[-1] == AssistantMessage("Half\n[The turn was interrupted here.]")
    retried = record_of(
        [*start, StepFailed("m", "cut", retried=True), TextSaid("n", "Whole"), StepEnded("n")]
    )
    assert retried.messages[1:] == [AssistantMessage("Whole")]


OPEN_CALL: tuple[Event, ...] = (
    OPENED,
    TurnStarted("t"),
    UserSaid("u", (TextPart("go"),)),
    StepEnded("m", (ToolCall("c", "tool", "{}"),)),
)


@pytest.mark.parametrize(
    ("behind", "words"),
    [
        ((), "nothing happened"),
        ((CallProposed("c", "tool", "A call", "other"), PermissionAsked("c")), "nothing happened"),
        ((CallProposed("c", "tool", "A call", "other"), CallStarted("c")), "check the current state"),
        ((CallStarted("c", is_repeatable=True),), "safe to make it again"),
    ],
)
def test_a_lost_call_is_reported_with_its_progress(behind: tuple[Event, ...], words: str) -> None:
    ends = record_of([*OPEN_CALL, *behind]).closing_events()
    (outcome,) = [end for end in ends if isinstance(end, CallEnded)]
    assert words in outcome.text
    assert outcome.status == "failed", "nobody stopped it"


def test_an_existing_outcome_is_kept() -> None:
    events = [*OPEN_CALL, CallStarted("c"), CallEnded("c", "tool", "completed", "Done.")]
    assert [type(end) for end in record_of(events).closing_events()] == [TitleChanged, TurnEnded]


def test_the_model_reads_the_advice_after_the_outcome() -> None:
    end = CallEnded("c", "tool", "failed", "The user refused this.", advice="Ask them.")
    (outcome,) = [each for each in record_of([*OPEN_CALL, end]).messages if isinstance(each, ToolMessage)]
    assert outcome.text == "The user refused this. Ask them."


@given(sessions())
def test_a_suspended_turn_resumes_exactly_where_it_stopped(events: list[Event]) -> None:
    record = closed(events)
    before = list(record.messages)
    asked = [event for event in events if isinstance(event, UserSaid)]
    last = [event for event in events if isinstance(event, TurnEnded)][-1:]
    was_done = bool(last) and last[0].reason == "done" and record_of(events).open_turn == ""
    assert record.can_resume == (bool(before or asked) and not was_done)
    if record.can_resume:
        record.apply(TurnStarted("on", goes_on=True))
        assert record.messages[: len(before)] == before
        assert all(isinstance(message, UserMessage) for message in record.messages[len(before) :])
        record.apply(TurnEnded("on", "model_trouble"))
        assert record.messages == before
        assert record.can_resume
