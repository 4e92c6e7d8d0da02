"""Google's generateContent API: the requests that are sent, and the chunks that are understood."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hermes_acp.core.errors import BadReply, ModelUnavailable
from hermes_acp.core.messages import (
    AssistantMessage,
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
from hermes_acp.models.providers.gemini import (
    PROVIDER,
    ContentAssembly,
    encode_request,
)
from hermes_acp.models.wire.endpoint_client import EndpointClient
from hermes_acp.models.wire.endpoint_errors import EndpointRefusal
from hermes_acp.models.wire.endpoints import Endpoint

HI = UserMessage((TextPart("hi"),))


def encoded(*messages: Message, omitted: frozenset[str] = frozenset(), **more: Any) -> Any:
    fields: dict[str, Any] = {"model": "gemini-3.5-flash", "system": ()} | more
    return json.loads(encode_request(ModelRequest(messages=messages or (HI,), **fields), omitted))


def started(*chunks: dict[str, Any]) -> ContentAssembly:
    assembly = ContentAssembly(ModelRequest("m", (), (HI,)), EndpointClient(Endpoint("http://h"), {}))
    for chunk in chunks:
        assembly.take(json.dumps(chunk).encode())
    return assembly


def chunk(*parts: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": finish}]}


def assembled(*chunks: dict[str, Any]) -> tuple[ContentAssembly, ModelReply]:
    assembly = started(*chunks)
    return assembly, assembly.reply()


def test_tools_keep_their_schema_and_the_system_prompt_its_layers() -> None:
    body = encoded(
        system=("a", " ", "b"), tools=(ToolSchema("t", "T.", {"type": "object"}),), max_output_tokens=9
    )
    assert body == {
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
        "systemInstruction": {"parts": [{"text": "a"}, {"text": "b"}]},
        "tools": [
            {
                "functionDeclarations": [
                    {"name": "t", "description": "T.", "parametersJsonSchema": {"type": "object"}}
                ]
            }
        ],
        "generationConfig": {"maxOutputTokens": 9, "thinkingConfig": {"includeThoughts": True}},
    }


@pytest.mark.parametrize(
    ("model", "effort", "config"),
    [
        ("gemini-3.5-flash", "max", {"thinkingLevel": "high"}),
        ("gemini-3.1-pro-preview", "medium", {"thinkingLevel": "low"}),
        ("gemini-2.5-flash", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-pro", "none", {"thinkingBudget": 1024}),
        ("models/gemini-2.5-pro", "medium", {"thinkingBudget": 8192}),
    ],
)
def test_effort_is_a_level_or_a_budget(model: str, effort: Any, config: dict[str, Any]) -> None:
    body = encoded(model=model, effort=effort)
    assert body["generationConfig"]["thinkingConfig"] == {"includeThoughts": True} | config
    assert "generationConfig" not in encoded(model="gemini-2.0-flash", effort=effort)


def test_signatures_are_sent_back_on_their_parts() -> None:
    calls = (ToolCall("c1", "t", '{"a": 1}', "sig-call"), ToolCall("c2", "u", "{bad"))
    said = AssistantMessage(
        "so", (Thought("hm", "sig-text", "gemini"), Thought("x", "y", "anthropic")), calls
    )
    results = (ToolMessage("c1", "t", "ok"), ToolMessage("c2", "u", "no", is_error=True))
    contents = encoded(HI, said, UserMessage((ImagePart("image/png", "aGk="),)), *results)["contents"]
    assert contents[1:] == [
        {
            "role": "model",
            "parts": [
                {"text": "so", "thoughtSignature": "sig-text"},
                {
                    "functionCall": {"id": "c1", "name": "t", "args": {"a": 1}},
                    "thoughtSignature": "sig-call",
                },
                {"functionCall": {"id": "c2", "name": "u", "args": {"malformed_arguments": "{bad"}}},
            ],
        },
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"id": "c1", "name": "t", "response": {"output": "ok"}}},
                {"functionResponse": {"id": "c2", "name": "u", "response": {"error": "no"}}},
                {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
            ],
        },
    ]


@pytest.mark.parametrize(
    ("model", "signature"),
    [("gemini-3.5-flash", "skip_thought_signature_validator"), ("gemini-2.5-pro", None)],
)
def test_a_call_by_another_model_is_marked_as_unsigned(model: str, signature: str | None) -> None:
    said = AssistantMessage(tool_calls=(ToolCall("c", "t", "{}"), ToolCall("d", "t", "{}")))
    results = (ToolMessage("c", "t", ""), ToolMessage("d", "t", ""))
    first, second = encoded(HI, said, *results, model=model)["contents"][1]["parts"]
    assert first.get("thoughtSignature") == signature
    assert "thoughtSignature" not in second


def test_rejected_parameters_are_omitted() -> None:
    request = ModelRequest(
        "gemini-3.5-flash", (), (HI, AssistantMessage(tool_calls=(ToolCall("c", "t", "{}", "s"),)))
    )
    body = encode_request(request)
    assert (
        PROVIDER.find_unsupported(
            EndpointRefusal(400, message="Corrupted thought signature."), body, frozenset()
        )
        == "thoughts"
    )
    assert (
        PROVIDER.find_unsupported(
            EndpointRefusal(400, message="Thinking is not supported."), body, frozenset()
        )
        == "thinking"
    )
    assert PROVIDER.find_unsupported(EndpointRefusal(400, message="no"), body, frozenset()) is None
    assert b"thinkingConfig" not in encode_request(request, frozenset({"thinking"}))
    assert b'"s"' not in encode_request(request, frozenset({"thoughts"}))


def test_parts_are_assembled() -> None:
    usage = {
        "promptTokenCount": 9,
        "candidatesTokenCount": 2,
        "thoughtsTokenCount": 3,
        "cachedContentTokenCount": 4,
    }
    assembly, reply = assembled(
        chunk({"text": "h", "thought": True}),
        chunk({"text": "m", "thought": True}),
        chunk({"text": "a"}),
        chunk({"text": "b", "thoughtSignature": "sig"}),
        chunk({"functionCall": {"name": "t", "args": {"a": 1}}, "thoughtSignature": "call-sig"}),
        chunk({"functionCall": {"name": "u", "id": "own"}}),
        chunk({"novelty": 1}, finish="STOP") | {"usageMetadata": usage},
    )
    assert assembly.drain() == [ThoughtFragment("hm"), TextFragment("ab")]
    assert reply.message == AssistantMessage(
        "ab",
        (Thought("hm", "sig", "gemini"),),
        (ToolCall("call_1", "t", '{"a": 1}', "call-sig"), ToolCall("own", "u", "{}")),
    )
    assert (reply.finish, reply.usage) == ("tool_calls", Usage(9, 5, 4))


def test_a_signature_after_the_text_is_kept_too() -> None:
    last = chunk({"text": "", "thoughtSignature": "sig"}, finish="STOP")
    assert assembled(chunk({"text": "a"}), last)[1].message.thoughts == (Thought("", "sig", "gemini"),)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("STOP", "stop"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "refusal"),
        ("SPII", "refusal"),
        ("NOVELTY", "stop"),
    ],
)
def test_every_finish_reason_is_mapped(said: str, meant: str) -> None:
    assert assembled(chunk({"text": "a"}, finish=said))[1].finish == meant


def test_a_blocked_prompt_is_a_refusal() -> None:
    assembly, reply = assembled({"promptFeedback": {"blockReason": "SAFETY"}})
    assert assembly.is_whole()
    assert reply.finish == "refusal"


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"])
def test_a_call_the_vendor_could_not_parse_can_be_retried(reason: str) -> None:
    with pytest.raises(BadReply) as caught:
        assembled({"candidates": [{"finishReason": reason}]})
    assert caught.value.retryable


def test_an_error_in_the_stream_is_an_error() -> None:
    with pytest.raises(ModelUnavailable, match="overloaded"):
        started({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}})


def test_a_stream_without_a_finish_reason_is_incomplete() -> None:
    assert not started(chunk({"text": "a"})).is_whole()


def test_models_that_generate_no_text_are_not_listed() -> None:
    listed = {
        "models": [
            {"name": "models/gemini-3.5-flash", "supportedGenerationMethods": ["generateContent"]},
            {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]},
            {"name": "models/plain", "inputTokenLimit": 1_048_576},
        ]
    }
    assert PROVIDER.read_models(json.dumps(listed).encode()) == (
        ListedModel("gemini-3.5-flash"),
        ListedModel("plain", 1_048_576),
    )


def test_the_model_is_named_in_the_path() -> None:
    assert (
        PROVIDER.chat_path("models/gemini-3.5-flash")
        == "/models/gemini-3.5-flash:streamGenerateContent?alt=sse"
    )
