"""Amazon Bedrock's Converse API on the wire.

Source: the service description in the official `botocore` package, 1.44, and Smithy's event stream specification.
"""

from __future__ import annotations

import struct
from typing import Any
from urllib.parse import unquote
from zlib import crc32

import msgspec

from .anthropic_requests import sign
from .requests import Asked, BadRequestError
from .script import Fault, Reply, ScriptError, Usage
from .wire import Failure, Piece, cut_evenly

_KINDS = {
    400: "ValidationException",
    403: "AccessDeniedException",
    404: "ResourceNotFoundException",
    408: "ModelTimeoutException",
    424: "ModelErrorException",
    429: "ThrottlingException",
    500: "InternalServerException",
    503: "ServiceUnavailableException",
}


class _Reasoning(msgspec.Struct, frozen=True, rename="camel"):
    reasoning_text: dict[str, str] | None = None


class _Use(msgspec.Struct, frozen=True, rename="camel"):
    tool_use_id: str
    name: str
    input: dict[str, Any]


class _Text(msgspec.Struct, frozen=True):
    text: str = ""


class _Result(msgspec.Struct, frozen=True, rename="camel"):
    tool_use_id: str
    content: list[_Text]
    status: str = "success"


class _Block(msgspec.Struct, frozen=True, rename="camel"):
    text: str | None = None
    image: dict[str, Any] | None = None
    tool_use: _Use | None = None
    tool_result: _Result | None = None
    reasoning_content: _Reasoning | None = None
    cache_point: dict[str, str] | None = None

    def words(self) -> str:
        if self.tool_result is not None:
            return "".join(part.text for part in self.tool_result.content)
        return self.text or ""


class _Message(msgspec.Struct, frozen=True):
    role: str
    content: list[_Block]

    def text(self) -> str:
        return "".join(block.words() for block in self.content)

    def uses(self) -> list[str]:
        return [block.tool_use.tool_use_id for block in self.content if block.tool_use is not None]

    def results(self) -> list[str]:
        return [block.tool_result.tool_use_id for block in self.content if block.tool_result is not None]


class _Request(msgspec.Struct, frozen=True, rename="camel"):
    messages: list[_Message]
    tool_config: dict[str, Any] | None = None


class BedrockWire:
    """Implements the ConverseStream operation."""

    vendor = "bedrock"
    id_header = "x-amzn-requestid"
    stream_type = "application/vnd.amazon.eventstream"
    is_sealed = True
    """Frames have checksums, so nothing may be inserted later."""

    def read_request(self, body: Any, headers: dict[str, str], *, is_strict: bool) -> Asked:
        try:
            request = msgspec.convert(body, _Request)
        except msgspec.ValidationError as error:
            raise BadRequestError(f"Malformed input request: {error}") from error
        messages = request.messages
        if is_strict:
            _check_history(messages, request.tool_config)
        path = headers[":path"]
        own = [message.role == "user" and not message.results() for message in messages]
        prompt_at = max((at for at, is_own in enumerate(own) if is_own), default=-1)
        heard = [message for message in messages if message.role == "user"]
        return Asked(
            model=unquote(path.removeprefix("/model/").rpartition("/")[0]),
            is_streamed=path.endswith("-stream"),
            last_text=heard[-1].text() if heard else "",
            prompt_text=messages[prompt_at].text() if prompt_at >= 0 else "",
            step=sum(message.role == "assistant" for message in messages[prompt_at + 1 :]),
        )

    def render_stream(self, reply: Reply, asked: Asked) -> list[Piece]:
        pieces = [_event("messageStart", {"role": "assistant"})]
        for index, (start, deltas) in enumerate(_blocks(reply, asked.number)):
            if start is not None:
                pieces.append(_event("contentBlockStart", {"contentBlockIndex": index, "start": start}))
            for delta, is_counted in deltas:
                pieces.append(
                    _event("contentBlockDelta", {"contentBlockIndex": index, "delta": delta}, is_counted)
                )
            pieces.append(_event("contentBlockStop", {"contentBlockIndex": index}))
        pieces.append(_event("messageStop", {"stopReason": _stop_reason(reply)}))
        pieces.append(_event("metadata", {"usage": _usage(reply.usage), "metrics": {"latencyMs": 12}}))
        return pieces

    def render_whole(self, reply: Reply, asked: Asked) -> bytes:
        raise ScriptError("this server speaks Converse as a stream alone")

    def render_failure(self, fault: Fault, asked: Asked) -> Failure:
        status = fault.status or 500
        kind = _KINDS.get(status, "ValidationException" if status < 500 else "InternalServerException")
        headers = {"x-amzn-errortype": f"{kind}:http://internal.amazon.com/coral/com.amazon.bedrock/"}
        if fault.retry_after_s is not None:
            headers["retry-after"] = f"{fault.retry_after_s:g}"
        message = fault.message or _message(status, fault.kind)
        return Failure(status, headers, msgspec.json.encode({"message": message}))

    def render_stream_error(self, fault: Fault, asked: Asked) -> bytes:
        kind = "throttlingException" if fault.status == 429 else "modelStreamErrorException"
        payload = msgspec.json.encode({"message": fault.message or "The model stopped unexpectedly."})
        return frame({":message-type": "exception", ":exception-type": kind}, payload)

    def render_models(self, models: tuple[str, ...]) -> bytes:
        return msgspec.json.encode(
            {
                "inferenceProfileSummaries": [{"inferenceProfileId": name, "type": "X"} for name in models],
                "modelSummaries": [{"modelId": name, "providerName": "Scripted"} for name in models],
            }
        )

    def render_model(self, model: str) -> bytes:
        return msgspec.json.encode({"modelDetails": {"modelId": model}})


def frame(headers: dict[str, str], payload: bytes) -> bytes:
    """Frame an event: lengths, checksum, headers, payload, checksum."""
    head = b"".join(
        struct.pack(">B", len(name)) + name.encode() + struct.pack(">BH", 7, len(value)) + value.encode()
        for name, value in headers.items()
    )
    prelude = struct.pack(">II", 12 + len(head) + len(payload) + 4, len(head))
    message = prelude + struct.pack(">I", crc32(prelude)) + head + payload
    return message + struct.pack(">I", crc32(message))


def _event(kind: str, fields: dict[str, Any], is_delta: bool = False) -> Piece:
    headers = {":event-type": kind, ":content-type": "application/json", ":message-type": "event"}
    # The vendor pads its events, so that their length reveals nothing.
    payload = msgspec.json.encode(fields | {"p": "abcdefghij"[: len(kind) % 9]})
    return Piece(frame(headers, payload), is_delta)


_Delta = tuple[dict[str, Any], bool]
_Rendered = tuple[dict[str, Any] | None, list[_Delta]]
"""A block's start event, if it is sent, and its deltas, each with whether it counts as content."""


def _blocks(reply: Reply, number: int) -> list[_Rendered]:
    blocks: list[_Rendered] = []
    if thinking := reply.thinking_deltas():
        deltas: list[_Delta] = [({"reasoningContent": {"text": part}}, True) for part in thinking]
        deltas.append(({"reasoningContent": {"signature": sign("".join(thinking))}}, False))
        blocks.append((None, deltas))
    if text := reply.text_deltas():
        blocks.append((None, [({"text": part}, True) for part in text]))
    for index, call in enumerate(reply.tool_calls):
        identity = call.id if call.id is not None else f"tooluse_{number:08d}{index:04d}"
        parts = cut_evenly(call.arguments_text(), call.pieces)
        start = {"toolUse": {"toolUseId": identity, "name": call.name}}
        blocks.append((start, [({"toolUse": {"input": part}}, True) for part in parts]))
    return blocks


def _stop_reason(reply: Reply) -> str:
    match reply.finish:
        case None:
            return "tool_use" if reply.tool_calls else "end_turn"
        case "stop":
            return "end_turn"
        case "tool_calls":
            return "tool_use"
        case "length":
            return "max_tokens"
        case "content_filter":
            return "content_filtered"
        case other:
            return other


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "inputTokens": max(0, usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens),
        "outputTokens": usage.output_tokens,
        "totalTokens": usage.input_tokens + usage.output_tokens,
        "cacheReadInputTokens": usage.cached_tokens,
        "cacheWriteInputTokens": usage.cache_write_tokens,
    }


def _message(status: int, kind: str) -> str:
    if kind == "context_full":
        return "Input is too long for requested model."
    if kind == "quota_used_up":
        return "Too many tokens per day, please wait before trying again."
    match status:
        case 403:
            return "The security token included in the request is invalid."
        case 404:
            return "Could not resolve the foundation model from the provided model identifier."
        case 429:
            return "Too many requests, please wait before trying again."
        case _ if status < 500:
            return "The provided request is not valid."
        case _:
            return "The system encountered an unexpected error during processing. Try your request again."


def _check_history(messages: list[_Message], tool_config: dict[str, Any] | None) -> None:
    if not messages:
        raise BadRequestError("A conversation must start with a user message.")
    if messages[0].role != "user":
        raise BadRequestError("A conversation must start with a user message. Try again with one.")
    open_ids: list[str] = []
    for place, message in enumerate(messages):
        if place and messages[place - 1].role == message.role:
            raise BadRequestError("A conversation must alternate between user and assistant roles.")
        if sorted(message.results()) != sorted(open_ids):
            raise BadRequestError(
                f"messages.{place}: Expected toolResult blocks for the following Ids: {', '.join(open_ids)}."
            )
        open_ids = message.uses()
        if open_ids and tool_config is None:
            raise BadRequestError(
                "The toolConfig field must be defined when using toolUse and toolResult content blocks."
            )
        for block in message.content:
            _check_block(block)
    if open_ids:
        raise BadRequestError(f"Expected toolResult blocks for the following Ids: {', '.join(open_ids)}.")


def _check_block(block: _Block) -> None:
    if block.text is not None and not block.text.strip():
        raise BadRequestError("The text field in the ContentBlock object is blank.")
    reasoning = block.reasoning_content.reasoning_text if block.reasoning_content is not None else None
    if reasoning is not None and reasoning.get("signature") != sign(reasoning.get("text", "")):
        raise BadRequestError("messages: Invalid `signature` in `thinking` block")
