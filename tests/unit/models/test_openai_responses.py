"""OpenAI's Responses API: the requests that are sent, and the events that are understood."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hermes_acp.core.errors import BadReply, ModelRefused, ModelUnavailable, RateLimited
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
from hermes_acp.models.providers.openai_responses import PROVIDER, ResponseAssembly, encode_request
from hermes_acp.models.wire.endpoint_client import EndpointClient
from hermes_acp.models.wire.endpoint_errors import EndpointRefusal
from hermes_acp.models.wire.endpoints import Endpoint

HI = UserMessage((TextPart("hi"),))


def encoded(*messages: Message, omitted: frozenset[str] = frozenset(), **more: Any) -> Any:
    fields: dict[str, Any] = {"model": "gpt-6-sol", "system": ()} | more
    return json.loads(encode_request(ModelRequest(messages=messages or (HI,), **fields), omitted))


def begun(*events: dict[str, Any]) -> ResponseAssembly:
    assembly = ResponseAssembly(ModelRequest("m", (), (HI,)), EndpointClient(Endpoint("http://h"), {}))
    for event in events:
        assembly.take(json.dumps(event).encode())
    return assembly


def assembled(*events: dict[str, Any]) -> tuple[ResponseAssembly, ModelReply]:
    assembly = begun(*events, completed())
    return assembly, assembly.reply()


def event(kind: str, index: int = 0, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "output_index": index, **fields}


def completed(**response: Any) -> dict[str, Any]:
    return {"type": "response.completed", "response": response}


def test_nothing_is_stored_at_the_vendor() -> None:
    body = encoded(system=("a", "", "b"), tools=(ToolSchema("t", "T.", {"type": "object"}),), effort="high")
    assert body == {
        "model": "gpt-6-sol",
        "stream": True,
        "store": False,
        "instructions": "a\n\nb",
        "tools": [
            {
                "type": "function",
                "name": "t",
                "description": "T.",
                "parameters": {"type": "object"},
                "strict": False,
            }
        ],
        "reasoning": {"effort": "high", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "hi"}]}],
    }


def test_models_that_do_not_reason_are_not_asked_to() -> None:
    body = encoded(model="gpt-4.1", effort="high", max_output_tokens=9)
    assert "reasoning" not in body
    assert "include" not in body
    assert body["max_output_tokens"] == 9


def test_encrypted_reasoning_is_sent_back_before_what_it_led_to() -> None:
    thoughts = (
        Thought("first", "sealed-1", "openai_responses", "rs_1"),
        Thought("", "sealed-2", "openai_responses", "rs_2", after_calls=1),
        Thought("another vendor's", "sig", "anthropic"),
        Thought("nobody's"),
    )
    calls = (ToolCall("c1", "t", '{"a": 1}'), ToolCall("c2", "t", "{bad"))
    history = (
        HI,
        AssistantMessage("so", thoughts, calls),
        ToolMessage("c1", "t", "ok"),
        ToolMessage("c2", "t", "no"),
    )
    sealed = {"type": "reasoning", "id": "rs_1", "encrypted_content": "sealed-1"}
    assert encoded(*history)["input"][1:] == [
        sealed | {"summary": [{"type": "summary_text", "text": "first"}]},
        {"role": "assistant", "content": "so", "phase": "commentary"},
        {"type": "function_call", "call_id": "c1", "name": "t", "arguments": '{"a": 1}'},
        {"type": "reasoning", "id": "rs_2", "encrypted_content": "sealed-2", "summary": []},
        {
            "type": "function_call",
            "call_id": "c2",
            "name": "t",
            "arguments": '{"malformed_arguments":"{bad"}',
        },
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        {"type": "function_call_output", "call_id": "c2", "output": "no"},
    ]
    without = encoded(*history, omitted=frozenset({"thoughts", "phase"}))["input"]
    assert "reasoning" not in [item.get("type") for item in without]
    assert without[1] == {"role": "assistant", "content": "so"}


def test_images_are_data_urls() -> None:
    content = encoded(UserMessage((ImagePart("image/png", "aGk="), TextPart(""))))["input"][0]["content"]
    assert content == [{"type": "input_image", "image_url": "data:image/png;base64,aGk=", "detail": "auto"}]


def test_rejected_fields_are_omitted_one_by_one() -> None:
    def unsupported(message: str, *before: str) -> str | None:
        request = ModelRequest(
            "gpt-6-sol",
            (),
            (HI, AssistantMessage("so", (Thought("", "x", "openai_responses"),)), HI),
            effort="low",
        )
        omitted = frozenset(before)
        return PROVIDER.find_unsupported(
            EndpointRefusal(400, message=message), encode_request(request, omitted), omitted
        )

    assert unsupported("Your organization must be verified to generate reasoning summaries.") == "summary"
    assert unsupported("Unsupported value: 'low' for reasoning.effort") == "effort"
    assert unsupported("Encrypted content is not supported with this model.") == "include"
    assert unsupported("The encrypted content for item rs_1 could not be verified.", "include") == "thoughts"
    assert unsupported("Unsupported parameter: 'reasoning'", "thoughts") == "reasoning"
    assert unsupported("no") is None


def test_items_are_assembled() -> None:
    assembly, reply = assembled(
        event("created", response={}),
        event("output_item.added", 0, item={"id": "rs_1", "type": "reasoning", "summary": []}),
        event("reasoning_summary_text.delta", 0, summary_index=0, delta="one"),
        event("reasoning_summary_text.delta", 0, summary_index=1, delta="two"),
        event(
            "output_item.done",
            0,
            item={"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "seal"},
        ),
        event("output_item.added", 1, item={"id": "msg", "type": "message"}),
        event("output_text.delta", 1, delta="a"),
        event("novelty", 1),
        event("output_text.delta", 1, delta="b"),
        event("output_item.added", 2, item={"type": "function_call", "call_id": "c1", "name": "t"}),
        event("function_call_arguments.delta", 2, delta='{"a"'),
        event("function_call_arguments.delta", 2, delta=": 1}"),
        event(
            "output_item.done",
            2,
            item={"type": "function_call", "call_id": "c1", "name": "t", "arguments": '{"a": 1}'},
        ),
        event("output_item.done", 3, item={"id": "rs_2", "type": "reasoning", "encrypted_content": "s2"}),
        event("output_item.done", 4, item={"type": "web_search_call", "id": "w"}),
    )
    assert assembly.drain() == [
        ThoughtFragment("one\n\ntwo"),
        TextFragment("ab"),
        CallFragment("c1", "t", '{"a": 1}'),
    ]
    assert reply.message == AssistantMessage(
        "ab",
        (
            Thought("one\n\ntwo", "seal", "openai_responses", "rs_1"),
            Thought("", "s2", "openai_responses", "rs_2", after_calls=1),
        ),
        (ToolCall("c1", "t", '{"a": 1}'),),
    )
    assert reply.finish == "tool_calls"


def test_items_that_were_never_streamed_are_read_at_the_end() -> None:
    message = {"type": "message", "content": [{"type": "output_text", "text": "hello"}]}
    usage = {"input_tokens": 9, "output_tokens": 2, "input_tokens_details": {"cached_tokens": 4}}
    assembly = begun(completed(output=[message], usage=usage))
    assert assembly.drain() == [TextFragment("hello")]
    assert assembly.reply().usage == Usage(9, 2, 4)


def test_a_refusal_is_shown_and_reported_as_such() -> None:
    assembly, reply = assembled(event("refusal.delta", delta="I will not."))
    assert assembly.drain() == [TextFragment("I will not.")]
    assert reply.finish == "refusal"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("max_output_tokens", "length"), ("content_filter", "refusal"), ("steered", "stop")],
)
def test_an_incomplete_answer_says_why(reason: str, finish: str) -> None:
    end = {"type": "response.incomplete", "response": {"incomplete_details": {"reason": reason}}}
    assert begun(end).reply().finish == finish


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        (
            {"type": "response.failed", "response": {"error": {"code": "server_error", "message": "no"}}},
            ModelUnavailable,
        ),
        ({"type": "response.failed", "response": {"error": {"code": "rate_limit_exceeded"}}}, RateLimited),
        ({"type": "response.failed", "response": {"error": {"code": "invalid_prompt"}}}, ModelRefused),
        ({"type": "error", "code": "rate_limit_exceeded", "message": "slow"}, RateLimited),
        ({"type": "error", "error": {"type": "invalid_request_error", "message": "bad"}}, ModelRefused),
    ],
)
def test_errors_in_the_stream_are_errors(said: dict[str, Any], kind: type[Exception]) -> None:
    with pytest.raises(kind):
        begun(said)


def test_a_call_without_a_tool_name_is_a_bad_response() -> None:
    with pytest.raises(BadReply, match="without a name"):
        assembled(event("function_call_arguments.delta", delta="{}"))
