"""OpenAI's Responses API on the wire.

Source: the types in the official `openai` package, 3.54; errors and models are those of chat completions.
"""

from __future__ import annotations

from typing import Any

import msgspec

from .anthropic_requests import sign
from .openai_wire import OpenAIWire
from .requests import Asked, BadRequestError
from .script import Fault, Reply, Usage
from .wire import NOTES_BEHIND_PROMPTS, REQUEST_MARK, Piece, cut_evenly

_CREATED = 1_762_000_000


class _Part(msgspec.Struct, frozen=True):
    type: str
    text: str = ""


class _Summary(msgspec.Struct, frozen=True):
    text: str
    type: str = "summary_text"


class _Item(msgspec.Struct, frozen=True):
    type: str = "message"
    role: str = ""
    content: str | list[_Part] | None = None
    call_id: str = ""
    name: str = ""
    arguments: str = ""
    output: str = ""
    encrypted_content: str = ""
    summary: list[_Summary] | None = None

    def text(self) -> str:
        if isinstance(self.content, list):
            return "".join(part.text for part in self.content)
        return self.content or self.output


class _Tool(msgspec.Struct, frozen=True):
    type: str
    name: str = ""
    strict: bool | None = None


class _Request(msgspec.Struct, frozen=True):
    model: str
    input: str | list[_Item]
    stream: bool | None = False
    store: bool | None = True
    tools: list[_Tool] | None = None
    include: list[str] | None = None

    def items(self) -> list[_Item]:
        return [_Item(role="user", content=self.input)] if isinstance(self.input, str) else self.input


class ResponsesWire:
    """Implements OpenAI's Responses API."""

    vendor = "openai_responses"
    id_header = "x-request-id"
    stream_type = "text/event-stream; charset=utf-8"
    is_sealed = False

    def __init__(self) -> None:
        chat = OpenAIWire()
        self.render_failure = chat.render_failure
        self.render_models = chat.render_models
        self.render_model = chat.render_model

    def read_request(self, body: Any, headers: dict[str, str], *, is_strict: bool) -> Asked:
        try:
            request = msgspec.convert(body, _Request)
        except msgspec.ValidationError as error:
            raise BadRequestError(f"We could not parse the body of your request: {error}.") from error
        items = request.items()
        if is_strict:
            _check_history(items)
        items = [item for item in items if not item.text().startswith(NOTES_BEHIND_PROMPTS)]
        prompt_at = max((at for at, item in enumerate(items) if item.role == "user"), default=-1)
        heard = [item for item in items if item.role == "user" or item.type == "function_call_output"]
        # One answer consists of several items; results are between two answers.
        answers = [item.type != "function_call_output" for item in items[prompt_at + 1 :]]
        return Asked(
            model=request.model,
            is_streamed=bool(request.stream),
            last_text=heard[-1].text() if heard else "",
            prompt_text=items[prompt_at].text() if prompt_at >= 0 else "",
            step=sum(
                is_said and not was_said
                for was_said, is_said in zip([False, *answers], answers, strict=False)
            ),
        )

    def render_stream(self, reply: Reply, asked: Asked) -> list[Piece]:
        events = _Events()
        opened = _response(asked, "in_progress", [], None, None)
        pieces = [events.write("response.created", response=opened)]
        pieces.append(events.write("response.in_progress", response=opened))
        output: list[dict[str, Any]] = []
        for index, (item, start, kind, deltas) in enumerate(_items(reply)):
            pieces.append(events.write("response.output_item.added", output_index=index, item=start))
            place = {"item_id": item["id"], "output_index": index}
            part, extra = _part(kind)
            if part:
                pieces.append(events.write(f"response.{part[0]}.added", **place, **extra, part=part[1]))
            more: dict[str, Any] = {"logprobs": []} if kind == "response.output_text" else {}
            pieces += [
                events.write(f"{kind}.delta", True, **place, **extra, **more, delta=delta) for delta in deltas
            ]
            if part:
                whole = part[1] | {"text": "".join(deltas)}
                pieces.append(events.write(f"response.{part[0]}.done", **place, **extra, part=whole))
            pieces.append(events.write("response.output_item.done", output_index=index, item=item))
            output.append(item)
        status, details = _ending(reply)
        ended = _response(asked, status, output, _usage(reply.usage), details)
        pieces.append(events.write(f"response.{status}", response=ended))
        return pieces

    def render_whole(self, reply: Reply, asked: Asked) -> bytes:
        status, details = _ending(reply)
        output = [item for item, _, _, _ in _items(reply)]
        return msgspec.json.encode(_response(asked, status, output, _usage(reply.usage), details))

    def render_stream_error(self, fault: Fault, asked: Asked) -> bytes:
        status = fault.status or 503
        code = "rate_limit_exceeded" if status == 429 else "server_error"
        message = fault.message or "The server had an error while processing your request."
        failed = _response(asked, "failed", [], None, None) | {"error": {"code": code, "message": message}}
        return _Events().write("response.failed", response=failed).payload


class _Events:
    """Writes the numbered events of one stream."""

    def __init__(self) -> None:
        self._count = 0

    def write(self, kind: str, is_delta: bool = False, **fields: Any) -> Piece:
        event = {"type": kind, "sequence_number": self._count, **fields}
        self._count += 1
        data = msgspec.json.encode(event)
        return Piece(b"event: %s\ndata: %s\n\n" % (kind.encode(), data), is_delta)


_Rendered = tuple[dict[str, Any], dict[str, Any], str, list[str]]
"""An item when it is complete, the same item at its start, the kind of its deltas, and the deltas."""


def _items(reply: Reply) -> list[_Rendered]:
    items: list[_Rendered] = []
    if thinking := list(reply.thinking_deltas()):
        start: dict[str, Any] = {"id": f"rs_{REQUEST_MARK}", "type": "reasoning", "encrypted_content": "half"}
        whole = "".join(thinking)
        summary = [{"type": "summary_text", "text": whole}]
        item = start | {"summary": summary, "encrypted_content": sign(whole)}
        items.append((item, start | {"summary": []}, "response.reasoning_summary_text", thinking))
    if text := list(reply.text_deltas()):
        start: dict[str, Any] = {
            "id": f"msg_{REQUEST_MARK}",
            "type": "message",
            "status": "in_progress",
            "role": "assistant",
        }
        content: list[dict[str, Any]] = [
            {"type": "output_text", "text": "".join(text), "annotations": [], "logprobs": []}
        ]
        item = start | {"status": "completed", "content": content}
        items.append((item, start | {"content": []}, "response.output_text", text))
    for index, call in enumerate(reply.tool_calls):
        identity = call.id if call.id is not None else f"call_{REQUEST_MARK}{index:04d}"
        start = {
            "id": f"fc_{REQUEST_MARK}{index:04d}",
            "type": "function_call",
            "status": "in_progress",
            "arguments": "",
            "call_id": identity,
            "name": call.name,
        }
        arguments = call.arguments_text()
        item = start | {"status": "completed", "arguments": arguments}
        deltas = cut_evenly(arguments, call.pieces)
        items.append((item, start, "response.function_call_arguments", deltas))
    return items


def _part(kind: str) -> tuple[tuple[str, dict[str, Any]] | None, dict[str, Any]]:
    """Return the part that deltas extend: its name, its start, and its position."""
    match kind:
        case "response.output_text":
            begun: dict[str, Any] = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            return ("content_part", begun), {"content_index": 0}
        case "response.reasoning_summary_text":
            return ("reasoning_summary_part", {"type": "summary_text", "text": ""}), {"summary_index": 0}
        case _:
            return None, {}


def _ending(reply: Reply) -> tuple[str, dict[str, str] | None]:
    match reply.finish:
        case "length":
            return "incomplete", {"reason": "max_output_tokens"}
        case "content_filter":
            return "incomplete", {"reason": "content_filter"}
        case _:
            return "completed", None


def _response(
    asked: Asked,
    status: str,
    output: list[dict[str, Any]],
    usage: dict[str, Any] | None,
    details: dict[str, str] | None,
) -> dict[str, Any]:
    return {
        "id": f"resp_{REQUEST_MARK}",
        "object": "response",
        "created_at": _CREATED,
        "status": status,
        "error": None,
        "incomplete_details": details,
        "model": asked.model,
        "output": output,
        "parallel_tool_calls": True,
        "store": False,
        "tool_choice": "auto",
        "tools": [],
        "usage": usage,
    }


def _usage(usage: Usage) -> dict[str, Any]:
    return {
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.input_tokens + usage.output_tokens,
    }


def _check_history(items: list[_Item]) -> None:
    if not items:
        raise BadRequestError('One of "input" or "previous_response_id" must be provided.')
    called = {item.call_id for item in items if item.type == "function_call"}
    answered = {item.call_id for item in items if item.type == "function_call_output"}
    if missing := called - answered:
        raise BadRequestError(f"No tool output found for function call {sorted(missing)[0]}.")
    if unasked := answered - called:
        raise BadRequestError(
            f"No tool call found for function call output with call_id {sorted(unasked)[0]}."
        )
    for item in items:
        if item.type == "reasoning":
            thought = "".join(part.text for part in item.summary or ())
            if item.encrypted_content != sign(thought):
                raise BadRequestError("The encrypted content for a reasoning item could not be verified.")
        if item.role in ("user", "assistant") and not item.text() and not item.content:
            raise BadRequestError("Invalid 'input': content must not be empty.")
