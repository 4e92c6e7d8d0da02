"""The history as it is sent to a model: with the model's own IDs, and each message converted once."""

from __future__ import annotations

from hermes_acp.core.messages import AssistantMessage, Message, TextPart, ToolCall, ToolMessage, UserMessage
from hermes_acp.core.record.sent_history import SentHistory
from hermes_acp.core.token_estimates import estimate_tokens


def test_a_model_sees_its_own_ids_or_ours_if_it_repeated_one() -> None:
    calls = (ToolCall("call_a", "t", "{}", "signed", "x"), ToolCall("call_b", "t", "{}", vendor_id="x"))
    history = (
        AssistantMessage("", (), calls),
        ToolMessage("call_b", "t", "second"),
        ToolMessage("call_a", "t", "first"),
        AssistantMessage("", (), (ToolCall("old", "t", "{}"), ToolCall("call_c", "t", "{}"))),
        ToolMessage("old", "t", "recorded by an earlier version"),
    )
    assert SentHistory().messages(history) == (
        AssistantMessage("", (), (ToolCall("x", "t", "{}", "signed"), ToolCall("call_b", "t", "{}"))),
        ToolMessage("call_b", "t", "second"),
        ToolMessage("x", "t", "first"),
        AssistantMessage("", (), (ToolCall("old", "t", "{}"), ToolCall("call_c", "t", "{}"))),
        ToolMessage("old", "t", "recorded by an earlier version"),
    )


def growing() -> list[Message]:
    call = ToolCall("call_a", "t", "{}", vendor_id="x")
    return [
        UserMessage((TextPart("Look"),)),
        AssistantMessage("", (), (call,)),
        ToolMessage("call_a", "t", "seen"),
    ]


def test_messages_sent_before_are_the_same_objects() -> None:
    sent, history = SentHistory(), growing()
    before = sent.messages(history)
    history.append(AssistantMessage("Done"))
    after = sent.messages(history)
    assert all(one is other for one, other in zip(before, after, strict=False))
    assert after == SentHistory().messages(history)
    assert sent.tokens(history) == estimate_tokens(history)


def test_a_shortened_or_changed_history_is_sent_as_it_is_now() -> None:
    sent, history = SentHistory(), growing()
    sent.messages(history)
    for changed in (history[:1], [*history[:2], ToolMessage("call_a", "t", "shorter")], [], history):
        assert sent.messages(changed) == SentHistory().messages(changed)
        assert sent.tokens(changed) == estimate_tokens(changed)


def test_a_call_made_through_another_tool_is_sent_as_the_model_wrote_it() -> None:
    call = ToolCall("call_1", "mcp__s__add", '{"n":1}', vendor_id="v1", via="call_tool")
    history = [AssistantMessage(tool_calls=(call,)), ToolMessage("call_1", "mcp__s__add", "1")]
    asked, answered = SentHistory().messages(history)
    assert isinstance(asked, AssistantMessage)
    arguments = '{"name":"mcp__s__add","arguments":{"n":1}}'
    assert asked.tool_calls == (ToolCall("v1", "call_tool", arguments),)
    assert answered == ToolMessage("v1", "call_tool", "1")
