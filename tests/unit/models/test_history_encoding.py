"""Requests of one session: each message is encoded once, and the body equals that of a first request."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from hermes_acp.core.messages import (
    AssistantMessage,
    HistoryEncoding,
    ImagePart,
    Message,
    ModelRequest,
    TextPart,
    Thought,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from hermes_acp.models.providers import anthropic, bedrock, gemini, openai_compatible, openai_responses

Encode = Callable[[ModelRequest, frozenset[str]], bytes]
ENCODERS: dict[str, Encode] = {
    "anthropic": anthropic.encode_request,
    "bedrock": bedrock.encode_request,
    "gemini": gemini.encode_request,
    "openai_compatible": lambda request, omitted: openai_compatible.encode_request(request, "h", omitted),
    "openai_responses": openai_responses.encode_request,
}
HI = UserMessage((TextPart("Hi"),))
HISTORY: tuple[Message, ...] = (
    HI,
    AssistantMessage(
        "I look.", (Thought("Hm", "sig", ""),), (ToolCall("a", "t", '{"x":1}'), ToolCall("b", "t", "no"))
    ),
    ToolMessage("a", "t", "seen", parts=(ImagePart("image/png", "QUJD"),)),
    ToolMessage("b", "t", "failed", is_error=True),
    HI,
    AssistantMessage("Done “so”."),
    UserMessage((TextPart("And"), ImagePart("image/png", "QUJD"))),
)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_growing_history_is_sent_like_a_first_request(name: str) -> None:
    encode, encoding = ENCODERS[name], HistoryEncoding()
    for model in ("claude-sonnet-5", "gemini-2.5-pro"):
        for omitted in (frozenset[str](), frozenset({"thoughts", "reasoning_content"}), frozenset[str]()):
            for length in (*range(1, len(HISTORY) + 1), 2, len(HISTORY)):
                messages = HISTORY[:length]
                fresh = encode(ModelRequest(model, ("s",), messages), omitted)
                assert encode(ModelRequest(model, ("s",), messages, encoding=encoding), omitted) == fresh


class Said:
    """A history whose encoding is what was added."""

    def __init__(self) -> None:
        self.added: list[Message] = []

    def add(self, message: Message) -> None:
        if message == AssistantMessage("unreadable"):
            raise ValueError("unreadable")
        self.added.append(message)


def test_each_message_is_encoded_once() -> None:
    encoding = HistoryEncoding()
    first = encoding.of(HISTORY[:1], "variant", Said)
    for length in range(2, len(HISTORY) + 1):
        assert encoding.of(HISTORY[:length], "variant", Said) is first
    assert first.added == [*HISTORY]
    assert encoding.of(HISTORY, "other", Said) is not first
    shorter = encoding.of(HISTORY[:2], "other", Said)
    assert shorter.added == [*HISTORY[:2]]
    changed = encoding.of((HISTORY[0], HISTORY[2], HISTORY[3]), "other", Said)
    assert changed.added == [HISTORY[0], HISTORY[2], HISTORY[3]]


def test_an_encoding_that_failed_halfway_is_not_reused() -> None:
    encoding = HistoryEncoding()
    encoding.of(HISTORY[:1], "variant", Said)
    with pytest.raises(ValueError, match="unreadable"):
        encoding.of((*HISTORY[:2], AssistantMessage("unreadable")), "variant", Said)
    assert encoding.of(HISTORY[:3], "variant", Said).added == [*HISTORY[:3]]
