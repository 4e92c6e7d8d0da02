"""Amazon Bedrock's Converse API: requests, signatures, and which frames and events are understood."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hermes_acp.core.errors import (
    BadReply,
    ConfigError,
    ContextWindowExceeded,
    ModelError,
    ModelUnavailable,
    RateLimited,
)
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
from hermes_acp.core.ports.model_ports import ListedModel
from hermes_acp.models.providers.bedrock import PROVIDER, ConverseAssembly, encode_request
from hermes_acp.models.wire.endpoint_client import EndpointClient
from hermes_acp.models.wire.endpoint_errors import EndpointRefusal
from hermes_acp.models.wire.endpoints import Endpoint

HI = UserMessage((TextPart("hi"),))
CLAUDE = "us.anthropic.claude-sonnet-5-5"
POINT = {"cachePoint": {"type": "default"}}


def encoded(*messages: Message, omitted: frozenset[str] = frozenset(), **more: Any) -> Any:
    fields: dict[str, Any] = {"model": "m", "system": ()} | more
    return json.loads(encode_request(ModelRequest(messages=messages or (HI,), **fields), omitted))


def started(*events: dict[str, Any]) -> ConverseAssembly:
    assembly = ConverseAssembly(ModelRequest("m", (), (HI,)), EndpointClient(Endpoint("http://h"), {}))
    for event in events:
        assembly.take(json.dumps(event).encode())
    return assembly


def delta(index: int, **fields: Any) -> dict[str, Any]:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": fields}}


def stopped(reason: str = "end_turn") -> dict[str, Any]:
    return {"messageStop": {"stopReason": reason}}


def assembled(*events: dict[str, Any]) -> tuple[ConverseAssembly, ModelReply]:
    assembly = started(*events)
    return assembly, assembly.reply()


def test_cache_points_and_thinking_are_for_models_that_support_them() -> None:
    tools = (ToolSchema("t", "T.", {"type": "object"}),)
    body = encoded(model=CLAUDE, system=("a", "b"), tools=tools, effort="max")
    assert body["system"] == [{"text": "a"}, {"text": "b"}, POINT]
    spec = {"name": "t", "description": "T.", "inputSchema": {"json": {"type": "object"}}}
    assert body["toolConfig"] == {"tools": [{"toolSpec": spec}, POINT]}
    assert body["messages"] == [{"role": "user", "content": [{"text": "hi"}, POINT]}]
    assert body["outputConfig"] == {"effort": "max"}
    assert body["additionalModelRequestFields"] == {"thinking": {"type": "adaptive", "display": "summarized"}}
    assert body["inferenceConfig"] == {"maxTokens": 128_000}
    assert encoded(system=("a",)) == {
        "messages": [{"role": "user", "content": [{"text": "hi"}]}],
        "system": [{"text": "a"}],
    }


def test_a_history_with_calls_describes_their_tools_even_if_none_are_offered() -> None:
    calls = (ToolCall("c1", "t", '{"a": 1}'), ToolCall("c 2", "t", "{bad"))
    history = (
        HI,
        AssistantMessage("so", (), calls),
        ToolMessage("c1", "t", "ok"),
        ToolMessage("c 2", "t", "", True),
    )
    body = encoded(*history)
    assert [tool["toolSpec"]["name"] for tool in body["toolConfig"]["tools"]] == ["t"]
    assert body["messages"][1:] == [
        {
            "role": "assistant",
            "content": [
                {"text": "so"},
                {"toolUse": {"toolUseId": "c1", "name": "t", "input": {"a": 1}}},
                {"toolUse": {"toolUseId": "c_2", "name": "t", "input": {"malformed_arguments": "{bad"}}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"toolResult": {"toolUseId": "c1", "content": [{"text": "ok"}]}},
                {"toolResult": {"toolUseId": "c_2", "content": [{"text": "(nothing)"}], "status": "error"}},
            ],
        },
    ]


def test_reasoning_is_sent_back_verbatim() -> None:
    thoughts = (
        Thought("hm", "sig", "bedrock"),
        Thought("", "redacted:xyz", "bedrock"),
        Thought("x", "theirs", "anthropic"),
        Thought("unsigned"),
    )
    content = encoded(HI, AssistantMessage("so", thoughts), HI)["messages"][1]["content"]
    assert content == [
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "sig"}}},
        {"reasoningContent": {"redactedContent": "xyz"}},
        {"text": "so"},
    ]


def test_images_are_bytes_with_a_format() -> None:
    content = encoded(UserMessage((ImagePart("image/jpg", "aGk="), TextPart(" "))))["messages"][0]["content"]
    assert content == [{"image": {"format": "jpeg", "source": {"bytes": "aGk="}}}]


def test_rejected_parameters_are_omitted() -> None:
    request = ModelRequest(
        CLAUDE, ("a",), (HI, AssistantMessage("so", (Thought("h", "s", "bedrock"),)), HI), effort="low"
    )
    body = encode_request(request)
    for message, parameter in (
        ("Invalid `signature` in `thinking` block", "thoughts"),
        ("This model doesn't support the cachePoint field", "cache"),
        ("outputConfig.effort is not supported", "effort"),
    ):
        assert (
            PROVIDER.find_unsupported(EndpointRefusal(400, message=message), body, frozenset()) == parameter
        )
    left = encode_request(request, frozenset({"thoughts", "cache", "effort"}))
    assert (
        PROVIDER.find_unsupported(EndpointRefusal(400, message="thinking: no"), left, frozenset({"thoughts"}))
        == "thinking"
    )
    assert PROVIDER.find_unsupported(EndpointRefusal(400, message="no"), body, frozenset()) is None


def test_blocks_are_assembled() -> None:
    use = {"toolUse": {"toolUseId": "c1", "name": "t"}}
    usage = {"inputTokens": 5, "outputTokens": 7, "cacheReadInputTokens": 3, "cacheWriteInputTokens": 2}
    assembly, reply = assembled(
        {"messageStart": {"role": "assistant"}},
        delta(0, reasoningContent={"text": "hm"}),
        delta(0, reasoningContent={"signature": "si"}),
        delta(0, reasoningContent={"signature": "g"}),
        {"contentBlockStop": {"contentBlockIndex": 0}},
        delta(1, reasoningContent={"redactedContent": "eHl6"}),
        delta(2, text="a"),
        delta(2, text="b"),
        {"contentBlockStart": {"contentBlockIndex": 3, "start": use}},
        delta(3, toolUse={"input": '{"a"'}),
        delta(3, toolUse={"input": ": 1}"}),
        {"novelty": {"contentBlockIndex": 9}},
        delta(4, reasoningContent={"text": "later", "signature": "s2"}),
        stopped("tool_use"),
        {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}},
    )
    assert assembly.is_over()
    assert assembly.drain() == [
        ThoughtFragment("hm"),
        TextFragment("ab"),
        CallFragment("c1", "t", '{"a": 1}'),
        ThoughtFragment("later"),
    ]
    assert reply.message == AssistantMessage(
        "ab",
        (
            Thought("hm", "sig", "bedrock"),
            Thought("", "redacted:eHl6", "bedrock"),
            Thought("later", "s2", "bedrock", after_calls=1),
        ),
        (ToolCall("c1", "t", '{"a": 1}'),),
    )
    assert (reply.finish, reply.usage) == ("tool_calls", Usage(10, 7, 3))


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("end_turn", "stop"),
        ("max_tokens", "length"),
        ("model_context_window_exceeded", "length"),
        ("content_filtered", "refusal"),
        ("guardrail_intervened", "refusal"),
        ("novelty", "stop"),
    ],
)
def test_every_stop_reason_is_mapped(said: str, meant: str) -> None:
    assert assembled(delta(0, text="a"), stopped(said))[1].finish == meant


def test_a_call_the_vendor_could_not_parse_can_be_retried() -> None:
    with pytest.raises(BadReply) as caught:
        assembled(stopped("malformed_tool_use"))
    assert caught.value.retryable


@pytest.mark.parametrize(
    ("kind", "message", "trouble"),
    [
        ("throttlingException", "slow", RateLimited),
        ("serviceUnavailableException", "no", ModelUnavailable),
        ("modelStreamErrorException", "no", ModelUnavailable),
        ("validationException", "Input is too long for requested model.", ContextWindowExceeded),
    ],
)
def test_exceptions_in_the_stream_are_errors(kind: str, message: str, trouble: type[ModelError]) -> None:
    with pytest.raises(trouble):
        started({kind: {"message": message}})


def test_a_stream_without_its_end_is_incomplete() -> None:
    assert not started(delta(0, text="a")).is_whole()


def test_models_are_listed_with_profiles_first() -> None:
    assert PROVIDER.read_models(b'{"inferenceProfileSummaries": [{"inferenceProfileId": "us.m"}]}') == (
        ListedModel("us.m"),
    )
    assert PROVIDER.read_models(b'{"modelSummaries": [{"modelId": "m", "modelName": "M"}]}') == (
        ListedModel("m"),
    )


def test_a_name_with_a_colon_or_a_slash_is_one_path_segment() -> None:
    assert PROVIDER.chat_path("a.b-v1:0") == "/model/a.b-v1%3A0/converse-stream"
    assert "/" not in PROVIDER.chat_path("arn:aws/x").removeprefix("/model/").removesuffix("/converse-stream")


def test_a_bearer_key_is_a_header_and_a_key_pair_is_not() -> None:
    assert PROVIDER.headers("bedrock-api-key-xyz") == {"authorization": "Bearer bedrock-api-key-xyz"}
    assert PROVIDER.headers("AKIAIOSFODNN7EXAMPLE:secret") == {}


def test_an_address_is_needed() -> None:
    with pytest.raises(ConfigError, match="base URL"):
        PROVIDER.connect(Endpoint(api_key="x"))
