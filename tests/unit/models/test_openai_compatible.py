"""Chat completions: the requests that are sent, and the deviations that are understood."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hermes_acp.config.provider_presets import Quirks, presets
from hermes_acp.core.errors import BadReply, ModelRefused
from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    LinkPart,
    ModelReply,
    ModelRequest,
    ResourcePart,
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
from hermes_acp.models.providers.openai_compatible import PROVIDER, ChatAssembly, encode_request
from hermes_acp.models.wire.endpoint_client import EndpointClient
from hermes_acp.models.wire.endpoint_errors import EndpointRefusal
from hermes_acp.models.wire.endpoints import Endpoint

HI = UserMessage((TextPart("hi"),))
TOOL = ToolSchema("read", "Reads.", {"type": "object"})


def encoded(request: ModelRequest, host: str = "h", omitted: frozenset[str] = frozenset()) -> Any:
    return json.loads(encode_request(request, host, omitted))


def assembled(*chunks: Any, request: ModelRequest | None = None) -> tuple[ChatAssembly, ModelReply]:
    assembly = ChatAssembly(request or ModelRequest("m", (), (HI,)), EndpointClient(Endpoint("http://h"), {}))
    for chunk in chunks:
        assembly.take(json.dumps(chunk).encode())
    return assembly, assembly.reply()


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call_delta(**fields: Any) -> dict[str, Any]:
    return delta(tool_calls=[fields])


def calls_of(*chunks: Any, request: ModelRequest | None = None) -> list[tuple[str, str, str]]:
    reply = assembled(*chunks, request=request)[1]
    assert reply.finish == "tool_calls"
    return [(call.id, call.name, call.arguments) for call in reply.message.tool_calls]


def test_a_plain_request_is_small() -> None:
    assert encoded(ModelRequest("m", ("a", "", "b"), (HI,))) == {
        "model": "m",
        "messages": [{"role": "system", "content": "a\n\nb"}, {"role": "user", "content": "hi"}],
        "stream": True,
        "stream_options": {"include_usage": True},
    }


@pytest.mark.parametrize(
    ("host", "field"), [("api.openai.com", "max_completion_tokens"), ("h", "max_tokens")]
)
def test_the_output_limit_has_the_name_the_host_expects(host: str, field: str) -> None:
    assert encoded(ModelRequest("m", (), (HI,), max_output_tokens=9), host)[field] == 9


def test_tools_are_functions_and_results_have_their_role() -> None:
    call = ToolCall("c1", "read", '{"a": 1}')
    history = (HI, AssistantMessage(tool_calls=(call,)), ToolMessage("c1", "read", "text"))
    body = encoded(ModelRequest("m", (), history, (TOOL,)))
    assert body["tools"] == [
        {
            "type": "function",
            "function": {"name": "read", "description": "Reads.", "parameters": {"type": "object"}},
        }
    ]
    assert "tool_choice" not in body
    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"a": 1}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "text"},
    ]


def test_images_are_data_urls_and_other_content_is_text() -> None:
    parts = (
        TextPart("see"),
        ImagePart("image/png", "aGk="),
        LinkPart("file:///a", "a"),
        ResourcePart("file:///b", "x ``` y"),
    )
    content = encoded(ModelRequest("m", (), (UserMessage(parts),)))["messages"][0]["content"]
    assert content[1] == {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}
    assert [block.get("text") for block in content] == [
        "see",
        None,
        "[a](file:///a)",
        "file:///b\n````\nx ``` y\n````",
    ]


def test_an_empty_assistant_message_is_omitted() -> None:
    history = (HI, AssistantMessage(thoughts=(Thought("hm"),)), HI)
    assert [m["role"] for m in encoded(ModelRequest("m", (), history))["messages"]] == ["user", "user"]


@pytest.mark.parametrize(
    ("arguments", "sent"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ("", "{}"),
        ("{bad", '{"malformed_arguments":"{bad"}'),
        ("[1]", '{"malformed_arguments":"[1]"}'),
    ],
)
def test_a_history_contains_only_valid_arguments(arguments: str, sent: str) -> None:
    history = (HI, AssistantMessage(tool_calls=(ToolCall("c", "t", arguments),)), ToolMessage("c", "t", "no"))
    message = encoded(ModelRequest("m", (), history))["messages"][1]
    assert message["tool_calls"][0]["function"]["arguments"] == sent


def test_reasoning_is_sent_back_with_its_calls_to_its_origin() -> None:
    said = AssistantMessage("", (Thought("hm"), Thought("theirs", "sig")), (ToolCall("c", "t", "{}"),))
    request = ModelRequest("m", (), (HI, said, ToolMessage("c", "t", "no")))
    assert encoded(request)["messages"][1]["reasoning_content"] == "hm"
    assert "reasoning_content" not in encoded(request, "api.openai.com")["messages"][1]
    assert "reasoning_content" not in encoded(request, "h", frozenset({"reasoning_content"}))["messages"][1]


def test_a_rejected_option_is_omitted_once() -> None:
    request = ModelRequest("m", (), (HI,), (TOOL,))
    body = encode_request(request, "h", frozenset())
    refusal = EndpointRefusal(400, message="Unknown field: stream_options")
    assert PROVIDER.find_unsupported(refusal, body, frozenset()) == "stream_options"
    assert PROVIDER.find_unsupported(refusal, body, frozenset({"stream_options"})) is None
    assert (
        PROVIDER.find_unsupported(EndpointRefusal(500, message="stream_options"), body, frozenset()) is None
    )
    assert "stream_options" not in encoded(request, "h", frozenset({"stream_options"}))
    wish = EndpointRefusal(
        400, message="Function tools with reasoning_effort are not supported here; set it to 'none'."
    )
    assert PROVIDER.find_unsupported(wish, body, frozenset()) == "reasoning_effort"
    assert encoded(request, "h", frozenset({"reasoning_effort"}))["reasoning_effort"] == "none"


def test_deltas_of_one_read_are_one_fragment_of_each_kind() -> None:
    assembly, reply = assembled(
        delta(reasoning="h"),
        delta(reasoning_content="m"),
        delta(content="a"),
        delta(content="b"),
        delta("stop"),
    )
    assert assembly.drain() == [ThoughtFragment("hm"), TextFragment("ab")]
    assert assembly.drain() == []
    assert reply.message == AssistantMessage("ab", (Thought("hm"),))


def test_interleaved_calls_are_separated_by_index() -> None:
    assert calls_of(
        call_delta(index=0, id="a", function={"name": "f", "arguments": ""}),
        call_delta(index=1, id="b", function={"name": "g"}),
        call_delta(index=0, function={"arguments": '{"x"'}),
        call_delta(index=1, function={"arguments": "{}"}),
        call_delta(index=0, function={"arguments": ": 1}"}),
    ) == [("a", "f", '{"x": 1}'), ("b", "g", "{}")]


def test_calls_whose_id_and_name_repeat_in_each_delta() -> None:
    assert calls_of(
        call_delta(index=0, id="a", function={"name": "f", "arguments": "{"}),
        call_delta(index=0, id="a", function={"name": "f", "arguments": "}"}),
    ) == [("a", "f", "{}")]


def test_whole_calls_without_index() -> None:
    assert calls_of(
        delta(
            tool_calls=[
                {"id": "a", "function": {"name": "f", "arguments": "{}"}},
                {"id": "b", "function": {"name": "g", "arguments": {"x": 1}}},
            ]
        )
    ) == [("a", "f", "{}"), ("b", "g", '{"x":1}')]


def test_whole_calls_that_all_have_index_0() -> None:
    assert calls_of(
        call_delta(index=0, id="a", function={"name": "f", "arguments": "{}"}),
        call_delta(index=0, id="b", function={"name": "g", "arguments": "{}"}),
    ) == [("a", "f", "{}"), ("b", "g", "{}")]


def test_calls_without_index_and_id() -> None:
    assert calls_of(
        call_delta(function={"name": "f", "arguments": "{"}),
        call_delta(function={"arguments": "}"}),
        call_delta(function={"name": "g"}),
    ) == [("call_1", "f", "{}"), ("call_2", "g", "{}")]


def test_generated_ids_are_new_in_the_history() -> None:
    past = AssistantMessage(tool_calls=(ToolCall("call_1", "f", "{}"), ToolCall("call_2", "f", "{}")))
    request = ModelRequest("m", (), (HI, past))
    assert calls_of(call_delta(index=0, id="call_2", function={"name": "f"}), request=request) == [
        ("call_3", "f", "{}")
    ]


def test_a_call_without_a_tool_name_is_a_bad_response() -> None:
    with pytest.raises(BadReply, match="without a name"):
        assembled(call_delta(index=0, id="a", function={"arguments": "{}"}))


def test_the_old_function_call_is_a_call() -> None:
    assert calls_of(
        delta(function_call={"name": "f", "arguments": "{"}),
        delta("function_call", function_call={"arguments": "}"}),
    ) == [("call_1", "f", "{}")]


@pytest.mark.parametrize(
    ("usage", "meant"),
    [
        (
            {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}},
            Usage(9, 2, 4),
        ),
        ({"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": None}, Usage(9, 2)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 3}, Usage(9, 0, 3)),
    ],
)
def test_usage_is_read_in_all_its_spellings(usage: Any, meant: Usage) -> None:
    assert assembled(delta("stop"), {"choices": [], "usage": usage})[1].usage == meant


def test_a_refusal_is_shown_and_reported_as_such() -> None:
    assembly, reply = assembled(delta(refusal="I will not."), delta("stop"))
    assert assembly.drain() == [TextFragment("I will not.")]
    assert reply.finish == "refusal"


def test_an_error_that_is_only_text_is_an_error() -> None:
    with pytest.raises(ModelRefused):
        assembled({"error": {"message": "no", "type": "invalid_request_error"}})


@pytest.mark.parametrize(
    ("end", "is_whole"), [(b"[DONE]", True), (json.dumps(delta("stop")).encode(), True), (b"{}", False)]
)
def test_either_end_mark_completes_the_answer(end: bytes, is_whole: bool) -> None:
    assembly = assembled(delta(content="a"))[0]
    assembly.take(end)
    assert assembly.is_whole() is is_whole


@pytest.mark.parametrize(
    ("preset", "effort", "fields"),
    [
        ("deepseek", "medium", {"thinking": {"type": "enabled"}, "reasoning_effort": "low"}),
        ("deepseek", "none", {"thinking": {"type": "disabled"}}),
        ("openrouter", "max", {"reasoning": {"effort": "xhigh"}}),
        ("dashscope", "none", {"enable_thinking": False}),
        ("kimi", "max", {"thinking": {"type": "enabled"}}),
        ("vllm", "none", {"chat_template_kwargs": {"enable_thinking": False}}),
        ("ollama", "xhigh", {"reasoning_effort": "high"}),
        ("minimax", "high", {}),
        ("copilot", "high", {"reasoning_effort": "high"}),
    ],
)
def test_effort_is_sent_in_the_form_the_endpoint_expects(
    preset: str, effort: Any, fields: dict[str, Any]
) -> None:
    request = ModelRequest("m", (), (HI,), effort=effort)
    body = json.loads(encode_request(request, "h", frozenset(), presets()[preset].quirks, preset))
    assert {
        name: value
        for name, value in body.items()
        if name not in ("model", "messages", "stream", "stream_options")
    } == fields


def test_an_unknown_effort_is_omitted() -> None:
    request = ModelRequest("m", (), (HI,), effort="high")
    body = encode_request(request, "h", frozenset())
    assert json.loads(body)["reasoning_effort"] == "high"
    assert (
        PROVIDER.find_unsupported(
            EndpointRefusal(400, message="Unknown field: reasoning_effort"), body, frozenset()
        )
        == "effort"
    )
    assert "reasoning_effort" not in encoded(request, omitted=frozenset({"effort"}))


def test_reasoning_is_sent_back_in_the_endpoints_field() -> None:
    said = AssistantMessage("so", (Thought("hm"),), (ToolCall("c", "t", "{}"),))
    request = ModelRequest("m", (), (HI, said, ToolMessage("c", "t", "ok")))

    def written(thoughts: Any) -> dict[str, Any]:
        body = json.loads(encode_request(request, "h", frozenset(), Quirks(thoughts=thoughts)))
        return body["messages"][1]

    assert written("reasoning")["reasoning"] == "hm"
    assert written("content")["content"] == "<think>\nhm\n</think>\n\nso"
    assert set(written("")) == {"role", "content", "tool_calls"}


def test_quirks_rename_the_output_limit_and_omit_options() -> None:
    quirks = Quirks(max_tokens="max_completion_tokens", stream_options=False)
    body = json.loads(
        encode_request(ModelRequest("m", (), (HI,), max_output_tokens=9), "h", frozenset(), quirks)
    )
    assert body["max_completion_tokens"] == 9
    assert "stream_options" not in body


def test_mistrals_deviations() -> None:
    quirks = presets()["mistral"].quirks
    calls = (ToolCall("call_PTLP8xhu3uwZk4l3", "read", "{}"), ToolCall("abcDEF123", "read", "{}"))
    answer = AssistantMessage("I look.", (Thought("hm"),), calls)
    results = [ToolMessage(call.id, "read", "x") for call in calls]
    request = ModelRequest(
        "mistral-medium-3-5", (), (HI, answer, *results), effort="medium", max_output_tokens=9
    )
    body = json.loads(encode_request(request, "h", frozenset(), quirks, "mistral"))
    _, said, first, second = body["messages"]
    ids = [call["id"] for call in said["tool_calls"]]
    assert [first["tool_call_id"], second["tool_call_id"]] == ids
    assert ids[1] == "abcDEF123"
    assert len(ids[0]) == 9
    assert ids[0].isalnum()
    assert said["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
        {"type": "text", "text": "I look."},
    ]
    assert (body["reasoning_effort"], body["max_tokens"]) == ("none", 9)
    assert "stream_options" not in body


def test_reasoning_may_arrive_in_blocks() -> None:
    reply = assembled(
        delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "h"}]}]),
        delta(
            content=[{"type": "thinking", "thinking": [{"type": "text", "text": "m"}, {"type": "reference"}]}]
        ),
        delta(content=[{"type": "text", "text": "Yes"}]),
        delta("stop", content="."),
    )[1]
    assert [thought.text for thought in reply.message.thoughts] == ["hm"]
    assert reply.message.text == "Yes."
