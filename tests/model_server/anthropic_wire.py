"""Anthropic's Messages API on the wire.

Source: the types in the official `anthropic` package, 2.12, and the vendor's pages on streaming and errors.
"""

from __future__ import annotations

from typing import Any

import msgspec

from .anthropic_requests import read_request, sign
from .requests import Asked
from .script import Fault, Reply, ScriptError, ToolCall, Usage
from .wire import REQUEST_MARK, Failure, Piece, cut_evenly


class AnthropicWire:
    """Implements Anthropic's Messages API."""

    vendor = "anthropic"
    id_header = "request-id"
    stream_type = "text/event-stream; charset=utf-8"
    is_sealed = False

    def read_request(self, body: Any, headers: dict[str, str], *, is_strict: bool) -> Asked:
        return read_request(body, headers, is_strict=is_strict)

    def render_stream(self, reply: Reply, asked: Asked) -> list[Piece]:
        opened = _message(asked, [], None, _usage(reply.usage) | {"output_tokens": 1})
        pieces = [_event("message_start", message=opened)]
        blocks = _thinking_block(reply) + _text_block(reply)
        blocks += [_tool_block(call, index) for index, call in enumerate(reply.tool_calls)]
        for index, (start, deltas) in enumerate(blocks):
            pieces.append(_event("content_block_start", index=index, content_block=start))
            if index == 0:
                pieces.append(_event("ping"))
            for delta, is_counted in deltas:
                pieces.append(_event("content_block_delta", is_counted, index=index, delta=delta))
            pieces.append(_event("content_block_stop", index=index))
        ended = {"stop_reason": _stop_reason(reply), "stop_sequence": None, "stop_details": None}
        pieces.append(_event("message_delta", delta=ended, usage=_delta_usage(reply.usage)))
        pieces.append(_event("message_stop"))
        return pieces

    def render_whole(self, reply: Reply, asked: Asked) -> bytes:
        content: list[dict[str, Any]] = []
        thinking, text = "".join(reply.thinking_deltas()), "".join(reply.text_deltas())
        if thinking:
            content.append({"type": "thinking", "thinking": thinking, "signature": sign(thinking)})
        if text:
            content.append({"type": "text", "text": text, "citations": None})
        content += [
            _tool_start(call, index) | {"input": _arguments(call)}
            for index, call in enumerate(reply.tool_calls)
        ]
        return msgspec.json.encode(_message(asked, content, _stop_reason(reply), _usage(reply.usage)))

    def render_failure(self, fault: Fault, asked: Asked) -> Failure:
        status = fault.status or 500
        headers: dict[str, str] = {}
        if fault.retry_after_s is not None:
            headers["retry-after"] = f"{fault.retry_after_s:g}"
        if status == 429:
            headers |= {
                "anthropic-ratelimit-requests-limit": "50",
                "anthropic-ratelimit-requests-remaining": "0",
                "anthropic-ratelimit-requests-reset": "2026-11-02T00:01:00Z",
            }
        return Failure(status, headers, msgspec.json.encode(_error(status, fault, asked.model)))

    def render_stream_error(self, fault: Fault, asked: Asked) -> bytes:
        body = msgspec.json.encode(_error(fault.status or 529, fault, asked.model))
        return b"event: error\ndata: %s\n\n" % body

    def render_models(self, models: tuple[str, ...]) -> bytes:
        ends = {"first_id": models[0] if models else None, "last_id": models[-1] if models else None}
        return msgspec.json.encode({"data": [_model(name) for name in models], "has_more": False, **ends})

    def render_model(self, model: str) -> bytes:
        return msgspec.json.encode(_model(model))


_Delta = tuple[dict[str, Any], bool]
"""A delta, and whether it counts as a piece of content."""
_Block = tuple[dict[str, Any], list[_Delta]]
"""A block's start event and its deltas."""


def _thinking_block(reply: Reply) -> list[_Block]:
    parts = reply.thinking_deltas()
    if not parts:
        return []
    deltas: list[_Delta] = [({"type": "thinking_delta", "thinking": part}, True) for part in parts]
    deltas.append(({"type": "signature_delta", "signature": sign("".join(parts))}, False))
    return [({"type": "thinking", "thinking": "", "signature": ""}, deltas)]


def _text_block(reply: Reply) -> list[_Block]:
    parts = reply.text_deltas()
    if not parts:
        return []
    return [
        (
            {"type": "text", "text": "", "citations": None},
            [({"type": "text_delta", "text": p}, True) for p in parts],
        )
    ]


def _tool_block(call: ToolCall, index: int) -> _Block:
    # The vendor starts the input with an empty piece.
    opened: _Delta = ({"type": "input_json_delta", "partial_json": ""}, False)
    parts = cut_evenly(call.arguments_text(), call.pieces)
    deltas: list[_Delta] = [({"type": "input_json_delta", "partial_json": part}, True) for part in parts]
    return _tool_start(call, index), [opened, *deltas]


def _tool_start(call: ToolCall, index: int) -> dict[str, Any]:
    identity = call.id if call.id is not None else f"toolu_{REQUEST_MARK}{index:04d}"
    return {"type": "tool_use", "id": identity, "name": call.name, "input": {}, "caller": {"type": "direct"}}


def _arguments(call: ToolCall) -> dict[str, Any]:
    try:
        return msgspec.json.decode(call.arguments_text(), type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ScriptError(
            f"the arguments of {call.name} are no JSON object; this format can only stream such arguments"
        ) from error


def _event(event_type: str, is_counted: bool = False, **fields: Any) -> Piece:
    data = msgspec.json.encode({"type": event_type, **fields})
    return Piece(b"event: %s\ndata: %s\n\n" % (event_type.encode(), data), is_counted)


def _message(
    asked: Asked, content: list[dict[str, Any]], stop_reason: str | None, usage: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": f"msg_{REQUEST_MARK}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": content,
        "stop_reason": stop_reason,
        "stop_sequence": None,
        "stop_details": None,
        "usage": usage,
    }


def _stop_reason(reply: Reply) -> str:
    reason = reply.finish_reason()
    match reason:
        case "stop":
            return "end_turn"
        case "tool_calls":
            return "tool_use"
        case "length":
            return "max_tokens"
        case "content_filter":
            return "refusal"
        case _:
            return reason


def _delta_usage(usage: Usage) -> dict[str, Any]:
    counts: dict[str, Any] = {
        "input_tokens": max(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens),
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    }
    if usage.reasoning_tokens:
        counts["output_tokens_details"] = {"thinking_tokens": usage.reasoning_tokens}
    return counts


def _usage(usage: Usage) -> dict[str, Any]:
    written = {"ephemeral_5m_input_tokens": usage.cache_write_tokens, "ephemeral_1h_input_tokens": 0}
    return _delta_usage(usage) | {"cache_creation": written, "service_tier": "standard"}


def _model(name: str) -> dict[str, Any]:
    return {
        "type": "model",
        "id": name,
        "display_name": name.replace("-", " ").title(),
        "created_at": "2026-01-01T00:00:00Z",
        "deprecated_at": None,
        "lifecycle": "active",
        "line": None,
        "max_input_tokens": 200_000,
        "max_tokens": 64_000,
        "retires_at": None,
        "capabilities": None,
    }


def _error(status: int, fault: Fault, model: str) -> dict[str, Any]:
    kind, message = _error_texts(status, fault.kind, model)
    return {
        "type": "error",
        "error": {"type": kind, "message": fault.message or message},
        "request_id": f"req_{REQUEST_MARK}",
    }


def _error_texts(status: int, kind: str, model: str) -> tuple[str, str]:
    """Return the vendor's error type and message for `status`."""
    if kind == "context_full":
        return "invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum"
    if kind == "quota_used_up":
        text = "Your credit balance is too low to access the Anthropic API."
        return ("billing_error" if status == 402 else "invalid_request_error"), text
    match status:
        case 401:
            return "authentication_error", "invalid x-api-key"
        case 403:
            return "permission_error", "Your API key does not have permission to use the specified resource."
        case 404:
            return "not_found_error", f"model: {model}"
        case 413:
            return "request_too_large", "Request exceeds the maximum allowed number of bytes."
        case 429:
            return "rate_limit_error", "This request would exceed the rate limit for your organization."
        case 504:
            return "timeout_error", "The request timed out while processing."
        case 529:
            return "overloaded_error", "Overloaded"
        case _ if status < 500:
            return "invalid_request_error", "Invalid request."
        case _:
            return "api_error", "Internal server error"
