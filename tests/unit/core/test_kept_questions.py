"""Questions that were open when the process was killed and that a later process asks again."""

import pytest

from hermes_acp.core.events import (
    CallEnded,
    CallProposed,
    CallStarted,
    Event,
    PermissionAnswered,
    PermissionAsked,
    SessionOpened,
    StepEnded,
    TurnEnded,
    TurnStarted,
    UserSaid,
)
from hermes_acp.core.messages import TextPart, ToolCall, ToolMessage
from hermes_acp.core.record.session_record import Record, fold_events


def step(*names: str) -> list[Event]:
    """Return a turn whose model calls tools; the calls are named by their position."""
    calls = tuple(ToolCall(f"c{number}", name, "{}") for number, name in enumerate(names))
    return [
        SessionOpened("ses", "/w", ("/w",), 1.0),
        TurnStarted("t"),
        UserSaid("m", (TextPart("Go."),)),
        StepEnded("a", tool_calls=calls),
        *(CallProposed(call.id, call.name, "A call", "other") for call in calls),
    ]


def reopened(events: list[Event]) -> Record:
    record = fold_events(events)
    for end in record.closing_events(keeps_questions=True):
        record.apply(end)
    return record


def test_a_call_waiting_for_an_answer_is_suspended_with_those_after_it() -> None:
    record = reopened([*step("write", "write"), PermissionAsked("c0")])
    assert [call.id for call in record.calls.suspended()] == ["c0", "c1"]
    assert record.last_end
    assert record.last_end.reason == "input_required"
    assert record.can_resume


def test_the_agents_own_question_is_suspended_though_its_call_was_started() -> None:
    record = reopened([*step("ask_user"), CallStarted("c0")])
    assert [call.id for call in record.calls.suspended()] == ["c0"]


def test_a_call_that_ran_beside_the_question_has_its_outcome() -> None:
    record = reopened([*step("run", "write"), CallStarted("c0"), PermissionAsked("c1")])
    assert [call.id for call in record.calls.suspended()] == ["c1"]
    (outcome,) = [message for message in record.messages if isinstance(message, ToolMessage)]
    assert outcome.call_id == "c0"
    assert "check the current state" in outcome.text


@pytest.mark.parametrize(
    "behind",
    [
        [],
        [PermissionAsked("c0"), PermissionAnswered("c0", "allow_once")],
        [PermissionAsked("c0"), PermissionAnswered("c0", "allow_once"), CallStarted("c0")],
    ],
)
def test_without_an_open_question_the_turn_was_cut_off(behind: list[Event]) -> None:
    record = reopened([*step("write"), *behind])
    assert record.calls.suspended() == ()
    assert record.last_end
    assert record.last_end.reason == "cancelled"


def test_by_default_an_open_question_is_closed() -> None:
    ends = fold_events([*step("write"), PermissionAsked("c0")]).closing_events()
    assert [type(end) for end in ends if isinstance(end, CallEnded | TurnEnded)] == [CallEnded, TurnEnded]
