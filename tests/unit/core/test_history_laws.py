"""The invariants of a history; each violation is found."""

import pytest
from hypothesis import given

from hermes_acp.core.messages import AssistantMessage, Message, TextPart, ToolCall, ToolMessage, UserMessage
from hermes_acp.core.record.history_invariants import (
    can_split_before,
    invariant_violations,
    last_exchange_index,
    last_prompt_index,
)
from tests.unit.core.histories import histories

USER = UserMessage((TextPart("go"),))
NOTE = UserMessage((TextPart("[note]"),), "program")
CALLS = AssistantMessage("", (), (ToolCall("a", "tool", "{}"), ToolCall("b", "tool", "{}")))
A, B = ToolMessage("a", "tool", "out"), ToolMessage("b", "tool", "out")
SAID = AssistantMessage("Done.")


@given(histories())
def test_a_valid_history_has_no_violation(messages: list[Message]) -> None:
    assert invariant_violations(messages) == []


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([USER, CALLS, A], "the call b has no outcome"),
        ([USER, CALLS, B, A], "message 2 is the outcome of b, which was not expected there"),
        ([USER, CALLS, A, B, A], "message 4 is the outcome of a, which was not expected there"),
        ([USER, CALLS, A, USER, B], "message 3 comes before the outcome of b"),
        ([USER, A], "message 1 is the outcome of a, which was not expected there"),
        ([USER, SAID, SAID], "message 2 is an answer without a preceding prompt"),
        ([SAID], "message 0 is an answer without a preceding prompt"),
    ],
)
def test_every_violation_is_named(messages: list[Message], why: str) -> None:
    assert why in invariant_violations(messages)


@pytest.mark.parametrize(
    ("messages", "place"),
    [
        ([], 0),
        ([USER], 0),
        ([USER, SAID], 2),
        ([USER, SAID, USER, NOTE], 2),
        ([USER, CALLS, A, B], 1),
        ([USER, CALLS, A, B, NOTE, USER], 1),
        ([USER, CALLS, A, B, SAID, USER], 5),
    ],
)
def test_an_unanswered_exchange_is_the_last_one(messages: list[Message], place: int) -> None:
    assert last_exchange_index(messages) == place


def test_the_last_message_is_the_users() -> None:
    assert last_prompt_index([USER, SAID, NOTE]) == 0
    assert last_prompt_index([NOTE]) is None


@given(histories())
def test_an_allowed_cut_separates_no_call_from_its_outcome(messages: list[Message]) -> None:
    for place in range(len(messages) + 1):
        if can_split_before(messages, place):
            said = [
                call.id for m in messages[:place] if isinstance(m, AssistantMessage) for call in m.tool_calls
            ]
            assert said == [m.call_id for m in messages[:place] if isinstance(m, ToolMessage)]
