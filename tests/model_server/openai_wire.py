"""OpenAI's chat completions on the wire.

Source: the types in the official `openai` package, 3.54.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from .requests import Asked, BadRequestError
from .script import Fault, Reply, Usage
from .wire import NOTES_BEHIND_PROMPTS, REQUEST_MARK, Failure, Piece, cut_evenly

_CREATED = 1_762_000_000
_FINGERPRINT = "fp_5c21f7d0ab"
_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class _Part(msgspec.Struct, frozen=True):
    type: str
    text: str = ""


class _Function(msgspec.Struct, frozen=True):
    name: str
    arguments: str


class _AskedCall(msgspec.Struct, frozen=True):
    id: str
    type: str
    function: _Function


class _Message(msgspec.Struct, frozen=True):
    role: str
    content: str | list[_Part] | None = None
    tool_calls: list[_AskedCall] | None = None
    tool_call_id: str = ""

    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text for part in self.content)
        return self.content or ""


class _ToolFunction(msgspec.Struct, frozen=True):
    name: str
    parameters: dict[str, Any] | None = None


class _Tool(msgspec.Struct, frozen=True):
    type: str
    function: _ToolFunction | None = None


class _StreamOptions(msgspec.Struct, frozen=True):
    include_usage: bool = False


class _Request(msgspec.Struct, frozen=True):
    model: str
    messages: list[_Message]
    stream: bool | None = False
    stream_options: _StreamOptions | None = None
    tools: list[_Tool] | None = None


class OpenAIWire:
    """Implements OpenAI's chat completions."""

    vendor = "openai"
    id_header = "x-request-id"
    stream_type = "text/event-stream; charset=utf-8"
    is_sealed = False

    def read_request(self, body: Any, headers: dict[str, str], *, is_strict: bool) -> Asked:
        try:
            request = msgspec.convert(body, _Request)
        except msgspec.ValidationError as error:
            raise BadRequestError(f"We could not parse the body of your request: {error}.") from error
        if is_strict:
            _check_tools(request.tools or [])
            _check_history(request.messages)
        options = request.stream_options
        messages = [
            message for message in request.messages if not message.text().startswith(NOTES_BEHIND_PROMPTS)
        ]
        heard = [message for message in messages if message.role in ("user", "tool")]
        prompt_at = max((at for at, m in enumerate(messages) if m.role == "user"), default=-1)
        return Asked(
            model=request.model,
            is_streamed=bool(request.stream),
            wants_usage=options is not None and options.include_usage,
            last_text=heard[-1].text() if heard else "",
            prompt_text=messages[prompt_at].text() if prompt_at >= 0 else "",
            step=sum(message.role == "assistant" for message in messages[prompt_at + 1 :]),
        )

    def render_stream(self, reply: Reply, asked: Asked) -> list[Piece]:
        chunk = _Chunks(asked)
        text = reply.text_deltas()
        pieces = [chunk.write({"role": "assistant", "content": "" if text else None, "refusal": None})]
        pieces += [
            chunk.write({"reasoning_content": part}, is_delta=True) for part in reply.thinking_deltas()
        ]
        pieces += [chunk.write({"content": part}, is_delta=True) for part in text]
        for index, call in enumerate(reply.tool_calls):
            head = {"name": call.name, "arguments": ""}
            opened = {"index": index, "id": _call_id(call.id, index), "type": "function", "function": head}
            pieces.append(chunk.write({"tool_calls": [opened]}))
            for part in cut_evenly(call.arguments_text(), call.pieces):
                grown = {"index": index, "function": {"arguments": part}}
                pieces.append(chunk.write({"tool_calls": [grown]}, is_delta=True))
        pieces.append(chunk.write({}, finish=reply.finish_reason()))
        if asked.wants_usage:
            pieces.append(chunk.write_usage(reply.usage))
        pieces.append(Piece(b"data: [DONE]\n\n"))
        return pieces

    def render_whole(self, reply: Reply, asked: Asked) -> bytes:
        message: dict[str, Any] = {
            "role": "assistant",
            "content": "".join(reply.text_deltas()) or None,
            "refusal": None,
            "annotations": [],
        }
        if reply.thinking:
            message["reasoning_content"] = "".join(reply.thinking_deltas())
        if reply.tool_calls:
            message["tool_calls"] = [
                {
                    "id": _call_id(call.id, index),
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments_text()},
                }
                for index, call in enumerate(reply.tool_calls)
            ]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason()}
        completion = _envelope("chat.completion", asked) | {
            "choices": [choice],
            "usage": _usage(reply.usage),
        }
        return msgspec.json.encode(completion)

    def render_failure(self, fault: Fault, asked: Asked) -> Failure:
        status = fault.status or 500
        headers: dict[str, str] = {}
        if fault.retry_after_s is not None:
            headers["retry-after"] = f"{fault.retry_after_s:g}"
            headers["retry-after-ms"] = f"{fault.retry_after_s * 1000:.0f}"
        if status == 429:
            headers |= {"x-ratelimit-limit-requests": "500", "x-ratelimit-remaining-requests": "0"}
        return Failure(status, headers, msgspec.json.encode({"error": _error(status, fault, asked.model)}))

    def render_stream_error(self, fault: Fault, asked: Asked) -> bytes:
        return b"data: %s\n\n" % msgspec.json.encode(
            {"error": _error(fault.status or 503, fault, asked.model)}
        )

    def render_models(self, models: tuple[str, ...]) -> bytes:
        return msgspec.json.encode({"object": "list", "data": [_model(name) for name in models]})

    def render_model(self, model: str) -> bytes:
        return msgspec.json.encode(_model(model))


class _Chunks:
    """Writes the chunks of one streamed completion."""

    def __init__(self, asked: Asked) -> None:
        self._head = _envelope("chat.completion.chunk", asked)
        # With include_usage, every chunk except the last has a null usage.
        self._tail: dict[str, Any] = {"usage": None} if asked.wants_usage else {}

    def write(self, delta: dict[str, Any], *, finish: str | None = None, is_delta: bool = False) -> Piece:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        event = {**self._head, "choices": [choice], **self._tail}
        return Piece(b"data: %s\n\n" % msgspec.json.encode(event), is_delta)

    def write_usage(self, usage: Usage) -> Piece:
        event: dict[str, Any] = {**self._head, "choices": [], "usage": _usage(usage)}
        return Piece(b"data: %s\n\n" % msgspec.json.encode(event))


def _envelope(kind: str, asked: Asked) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{REQUEST_MARK}",
        "object": kind,
        "created": _CREATED,
        "model": asked.model,
        "service_tier": "default",
        "system_fingerprint": _FINGERPRINT,
    }


def _call_id(given: str | None, index: int) -> str:
    return given if given is not None else f"call_{REQUEST_MARK}{index:04d}"


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
            "audio_tokens": 0,
        },
        "completion_tokens_details": {
            "reasoning_tokens": usage.reasoning_tokens,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": _CREATED, "owned_by": "scripted"}


def _error(status: int, fault: Fault, model: str) -> dict[str, Any]:
    message, kind, code = _error_texts(status, fault.kind, model)
    param = "messages" if fault.kind == "context_full" else None
    return {"message": fault.message or message, "type": kind, "param": param, "code": code}


def _error_texts(status: int, kind: str, model: str) -> tuple[str, str, str | int | None]:
    """Return the vendor's message, type and code for `status`."""
    if kind == "context_full":
        text = (
            "This model's maximum context length is 128000 tokens. Your messages resulted in 190417 tokens."
        )
        return (
            f"{text} Please reduce the length of the messages.",
            "invalid_request_error",
            "context_length_exceeded",
        )
    if kind == "quota_used_up":
        text = "You exceeded your current quota, please check your plan and billing details."
        return text, "insufficient_quota", "insufficient_quota"
    match status:
        case 401:
            return "Incorrect API key provided.", "invalid_request_error", "invalid_api_key"
        case 403:
            text = "Country, region, or territory not supported"
            return text, "request_forbidden", "unsupported_country_region_territory"
        case 404:
            text = f"The model `{model}` does not exist or you do not have access to it."
            return text, "invalid_request_error", "model_not_found"
        case 429:
            text = (
                f"Rate limit reached for {model} on requests per min (RPM): Limit 500, Used 500, Requested 1."
            )
            return text, "requests", "rate_limit_exceeded"
        case 502:
            return "Bad gateway.", "cf_bad_gateway", 502
        case 503 | 529:
            text = "The server is currently overloaded with other requests. Please try again later."
            return text, "server_error", None
        case _ if status < 500:
            return "Invalid request.", "invalid_request_error", None
        case _:
            return "The server had an error while processing your request.", "server_error", None


def _check_tools(tools: list[_Tool]) -> None:
    for index, tool in enumerate(tools):
        if tool.function is not None and not _TOOL_NAME.fullmatch(tool.function.name):
            raise BadRequestError(
                f"Invalid 'tools[{index}].function.name': string does not match pattern. Expected a string "
                "that matches the pattern '^[a-zA-Z0-9_-]+$'."
            )


def _check_history(messages: list[_Message]) -> None:
    """Refuse tool calls without results and results without calls, as the vendor does."""
    if not messages:
        raise BadRequestError("Invalid 'messages': empty array. Expected an array with minimum length 1.")
    open_ids: list[str] = []
    for index, message in enumerate(messages):
        if message.role == "tool":
            if message.tool_call_id not in open_ids:
                raise BadRequestError(
                    f"Invalid parameter: messages[{index}] with role 'tool' must be a response to a "
                    "preceding message with 'tool_calls'."
                )
            open_ids.remove(message.tool_call_id)
            continue
        _check_answered(open_ids)
        open_ids = [call.id for call in message.tool_calls or []]
    _check_answered(open_ids)


def _check_answered(open_ids: list[str]) -> None:
    if open_ids:
        raise BadRequestError(
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. The following tool_call_ids did not have response messages: "
            f"{', '.join(open_ids)}"
        )
