"""Anthropic's Messages API: the requests that are sent, and the stream events that are understood."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hermes_acp.core.errors import ModelUnavailable
from hermes_acp.core.found_tools import found_tools_text
from hermes_acp.core.messages import (
    AssistantMessage,
    CallFragment,
    ImagePart,
    Message,
    ModelReply,
    ModelRequest,
    TextFragment,
    TextPart,
    Thought,
    ThoughtFragment,
    ToolCall,
    ToolMessage,
    ToolSchema,
    Usage,
    UserMessage,
)
from hermes_acp.models.providers.anthropic import PROVIDER, MessageAssembly, encode_request
from hermes_acp.models.wire.endpoint_client import EndpointClient
from hermes_acp.models.wire.endpoint_errors import EndpointRefusal
from hermes_acp.models.wire.endpoints import Endpoint

MARK = {"type": "ephemeral"}
HI = UserMessage((TextPart("hi"),))


def encoded(*messages: Message, omitted: frozenset[str] = frozenset(), **more: Any) -> Any:
    fields: dict[str, Any] = {"model": "m", "system": ()} | more
    request = ModelRequest(messages=messages or (HI,), **fields)
    return json.loads(encode_request(request, omitted))


def assembled(*events: dict[str, Any]) -> tuple[MessageAssembly, ModelReply]:
    assembly = MessageAssembly(ModelRequest("m", (), (HI,)), EndpointClient(Endpoint("http://h"), {}))
    for event in events:
        assembly.take(json.dumps(event).encode())
    return assembly, assembly.reply()


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **fields: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": fields}


def ended(reason: str, **usage: Any) -> dict[str, Any]:
    return {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage or None}


def test_at_most_four_cache_marks_in_their_places() -> None:
    tools = (ToolSchema("a", "A.", {}), ToolSchema("b", "B.", {}))
    body = encoded(HI, AssistantMessage("yo"), HI, system=("one", "two", "", "three"), tools=tools)
    assert json.dumps(body).count("cache_control") == 4
    assert [block.get("cache_control") for block in body["system"]] == [None, MARK, MARK]
    assert [tool.get("cache_control") for tool in body["tools"]] == [None, MARK]
    assert body["messages"][-1]["content"][-1]["cache_control"] == MARK
    assert body["tools"][0] == {"name": "a", "description": "A.", "input_schema": {}}


@pytest.mark.parametrize(
    ("model", "asked", "limit"),
    [("m", None, 8192), ("claude-haiku-4-5", None, 64_000), ("claude-haiku-4-5", 9, 9)],
)
def test_the_output_limit_is_the_users_the_models_or_a_modest_default(
    model: str, asked: int | None, limit: int
) -> None:
    assert encoded(model=model, max_output_tokens=asked)["max_tokens"] == limit


def test_results_come_first_and_adjacent_messages_are_merged() -> None:
    calls = (ToolCall("c1", "t", '{"a": 1}'), ToolCall("c:2", "t", "{bad"))
    note = UserMessage((TextPart("note"), ImagePart("image/png", "aGk="), TextPart(" \n")))
    messages = encoded(
        HI,
        HI,
        AssistantMessage("so", (), calls),
        note,
        ToolMessage("c1", "t", "ok"),
        ToolMessage("c:2", "t", "", True),
    )["messages"]
    assert [message["role"] for message in messages] == ["user", "assistant", "user"]
    assert [block["type"] for block in messages[2]["content"]] == [
        "tool_result",
        "tool_result",
        "text",
        "image",
    ]
    assert messages[2]["content"][1] == {"type": "tool_result", "tool_use_id": "c_2", "is_error": True}
    assert messages[1]["content"][1:] == [
        {"type": "tool_use", "id": "c1", "name": "t", "input": {"a": 1}},
        {"type": "tool_use", "id": "c_2", "name": "t", "input": {"malformed_arguments": "{bad"}},
    ]


def test_thinking_is_sent_back_verbatim_and_first() -> None:
    thoughts = (Thought("hm ", "sig"), Thought("", "redacted:xyz"), Thought("unsigned"))
    content = encoded(HI, AssistantMessage("so", thoughts), HI)["messages"][1]["content"]
    assert content == [
        {"type": "thinking", "thinking": "hm ", "signature": "sig"},
        {"type": "redacted_thinking", "data": "xyz"},
        {"type": "text", "text": "so"},
    ]


def test_an_empty_message_is_omitted() -> None:
    nothing = (
        AssistantMessage("  "),
        AssistantMessage(thoughts=(Thought("hm", "sig"),)),
        UserMessage((TextPart(""),)),
    )
    assert encoded(HI, *nothing)["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": MARK}]}
    ]


def test_a_history_with_calls_has_a_tool_even_if_none_may_be_called() -> None:
    calls = AssistantMessage("", (), (ToolCall("c1", "look", "{}"),))
    body = encoded(HI, calls, ToolMessage("c1", "look", "seen"), HI)
    assert len(body["tools"]) == 1
    assert body["tool_choice"] == {"type": "none"}
    assert not {"tools", "tool_choice"} & encoded(HI).keys()


def test_only_models_that_always_think_are_asked_to_show_it() -> None:
    assert encoded(model="claude-opus-5-5")["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert "thinking" not in encoded(model="claude-haiku-4-5")


def test_rejected_thinking_parameters_are_omitted_step_by_step() -> None:
    request = ModelRequest("claude-opus-5-5", (), (HI, AssistantMessage("so", (Thought("hm", "sig"),)), HI))
    refusal = EndpointRefusal(400, message="messages.1.content.0: Invalid `signature` in `thinking` block")
    body, first = encode_request(request), frozenset({"thoughts"})
    assert PROVIDER.find_unsupported(refusal, body, frozenset()) == "thoughts"
    body = encode_request(request, first)
    assert b"signature" not in body
    assert PROVIDER.find_unsupported(refusal, body, first) == "thinking"
    both = first | {"thinking"}
    assert b"thinking" not in encode_request(request, both)
    assert PROVIDER.find_unsupported(refusal, encode_request(request, both), both) is None
    assert (
        PROVIDER.find_unsupported(EndpointRefusal(400, message="no"), encode_request(request), frozenset())
        is None
    )


def test_blocks_are_assembled() -> None:
    assembly, reply = assembled(
        {"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 3}}},
        start(0, type="thinking", thinking=""),
        {"type": "ping"},
        delta(0, type="thinking_delta", thinking="hm"),
        delta(0, type="signature_delta", signature="si"),
        delta(0, type="signature_delta", signature="g"),
        {"type": "content_block_stop", "index": 0},
        start(1, type="redacted_thinking", data="xyz"),
        start(2, type="text", text="a"),
        delta(2, type="text_delta", text="b"),
        delta(2, type="novelty_delta"),
        start(3, type="tool_use", id="c1", name="t", input={}),
        delta(3, type="input_json_delta", partial_json=""),
        delta(3, type="input_json_delta", partial_json='{"a"'),
        delta(3, type="input_json_delta", partial_json=": 1}"),
        start(4, type="tool_use", id="c2", name="u", input={"whole": True}),
        start(5, type="novelty_block", what=[1]),
        {"type": "novelty"},
        ended("tool_use", output_tokens=7, cache_creation_input_tokens=2),
        {"type": "message_stop"},
    )
    assert assembly.is_over()
    assert assembly.drain() == [
        ThoughtFragment("hm"),
        TextFragment("ab"),
        CallFragment("c1", "t", '{"a": 1}'),
    ]
    assert reply.message.text == "ab"
    assert reply.message.thoughts == (
        Thought("hm", "sig", "anthropic"),
        Thought("", "redacted:xyz", "anthropic"),
    )
    assert [(call.id, call.name, json.loads(call.arguments)) for call in reply.message.tool_calls] == [
        ("c1", "t", {"a": 1}),
        ("c2", "u", {"whole": True}),
    ]
    assert reply.usage == Usage(10, 7, 3)
    assert reply.finish == "tool_calls"


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("end_turn", "stop"),
        ("stop_sequence", "stop"),
        ("pause_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "refusal"),
        ("novelty", "stop"),
    ],
)
def test_every_stop_reason_is_mapped(said: str, meant: str) -> None:
    assert assembled(start(0, type="text", text="a"), ended(said))[1].finish == meant


def test_overload_in_the_stream_can_be_retried() -> None:
    with pytest.raises(ModelUnavailable, match="Overloaded") as caught:
        assembled({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
    assert caught.value.retryable


def test_a_stream_without_its_end_is_incomplete() -> None:
    assert not assembled(start(0, type="text", text="a"), ended("end_turn"))[0].is_whole()


FOUND = tuple(ToolSchema(f"mcp__s__{name}", "About.", {"type": "object"}) for name in ("a", "b", "c"))
SEARCHED = (
    HI,
    AssistantMessage(tool_calls=(ToolCall("c1", "tool_search", '{"query":"b"}'),)),
    ToolMessage("c1", "tool_search", found_tools_text(FOUND[1:], ["mcp__s__a"])),
)
SEARCH = ToolSchema("tool_search", "Search.", {"type": "object"})


def test_a_found_tool_is_loaded_where_it_was_found_and_the_first_tools_are_unchanged() -> None:
    before = encoded(tools=(SEARCH,), deferred=FOUND)
    after = encoded(*SEARCHED, tools=(SEARCH,), deferred=FOUND)
    (search,) = before["tools"]
    assert search["cache_control"] == MARK
    assert after["tools"][0] == search
    assert after["tools"][1:] == [
        {"name": name, "description": "About.", "input_schema": {"type": "object"}, "defer_loading": True}
        for name in ("mcp__s__b", "mcp__s__c")
    ]
    assert after["messages"][2]["content"][0]["content"] == [
        {"type": "tool_reference", "tool_name": "mcp__s__b"},
        {"type": "tool_reference", "tool_name": "mcp__s__c"},
    ]


def test_a_removed_tool_is_not_referenced() -> None:
    body = encoded(*SEARCHED, tools=(SEARCH,), deferred=FOUND[:2])
    assert [tool["name"] for tool in body["tools"]] == ["tool_search", "mcp__s__b"]
    assert body["messages"][2]["content"][0]["content"] == [
        {"type": "tool_reference", "tool_name": "mcp__s__b"}
    ]
    nothing = encoded(*SEARCHED, tools=(SEARCH,))
    assert nothing["messages"][2]["content"][0]["content"] == SEARCHED[2].text


@pytest.mark.parametrize(
    ("model", "base_url", "loads"),
    [
        ("claude-sonnet-4-5-20250929", "https://api.anthropic.com", True),
        ("claude-opus-5", "https://api.anthropic.com/v1", True),
        ("claude-haiku-4-5", "https://api.anthropic.com", True),
        ("claude-3-7-sonnet-latest", "https://api.anthropic.com", False),
        ("claude-haiku-4-20250514", "https://api.anthropic.com", False),
        ("claude-sonnet-4-5", "https://gateway.example", False),
    ],
)
def test_only_supporting_models_are_sent_references(model: str, base_url: str, loads: bool) -> None:
    link = EndpointClient(Endpoint(base_url), {})
    request = ModelRequest(model, (), SEARCHED, (SEARCH,), deferred=FOUND)
    assert (b"tool_reference" in PROVIDER.encode(request, link, frozenset())) is loads
    body = json.loads(PROVIDER.encode(request, link, frozenset({"deferred"})))
    assert body["messages"][2]["content"][0]["content"] == SEARCHED[2].text
    assert len(body["tools"]) == 1


def test_a_rejected_reference_is_omitted() -> None:
    link = EndpointClient(Endpoint("https://api.anthropic.com"), {})
    body = PROVIDER.encode(
        ModelRequest("claude-opus-5", (), SEARCHED, (SEARCH,), deferred=FOUND), link, frozenset()
    )
    refusal = EndpointRefusal(400, message="tools.1.defer_loading: Extra inputs are not permitted")
    assert PROVIDER.find_unsupported(refusal, body, frozenset()) == "deferred"
