"""Google's generateContent API on the wire.

Source: the types in the official `google-genai` package, 3.4, and the vendor's pages on thought signatures and errors.
"""

from __future__ import annotations

from typing import Any

import msgspec

from .anthropic_requests import sign
from .requests import Asked, BadRequestError
from .script import Fault, Reply, ScriptError, ToolCall, Usage
from .wire import REQUEST_MARK, Failure, Piece

_UNSIGNED = "skip_thought_signature_validator"
_STATUSES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    409: "ABORTED",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class _Call(msgspec.Struct, frozen=True):
    name: str
    args: dict[str, Any] = {}
    id: str = ""


class _Response(msgspec.Struct, frozen=True):
    name: str
    response: dict[str, Any]
    id: str = ""


class _Part(msgspec.Struct, frozen=True, rename="camel"):
    text: str | None = None
    function_call: _Call | None = None
    function_response: _Response | None = None
    inline_data: dict[str, str] | None = None
    thought_signature: str = ""

    def words(self) -> str:
        if self.function_response is not None:
            return "".join(str(value) for value in self.function_response.response.values())
        return self.text or ""


class _Content(msgspec.Struct, frozen=True):
    parts: list[_Part]
    role: str = "user"

    def calls(self) -> list[_Part]:
        return [part for part in self.parts if part.function_call is not None]

    def responses(self) -> list[_Part]:
        return [part for part in self.parts if part.function_response is not None]

    def text(self) -> str:
        return "".join(part.words() for part in self.parts)


class _Request(msgspec.Struct, frozen=True, rename="camel"):
    contents: list[_Content]
    tools: list[dict[str, Any]] | None = None


class GeminiWire:
    """Implements the generateContent API."""

    vendor = "gemini"
    id_header = "x-goog-request-id"
    stream_type = "text/event-stream"
    is_sealed = False

    def read_request(self, body: Any, headers: dict[str, str], *, is_strict: bool) -> Asked:
        try:
            contents = msgspec.convert(body, _Request).contents
        except msgspec.ValidationError as error:
            raise BadRequestError(f"Invalid JSON payload received. {error}") from error
        if is_strict:
            _check_history(contents)
        path = headers[":path"]
        own = [content.role == "user" and not content.responses() for content in contents]
        prompt_at = max((at for at, is_own in enumerate(own) if is_own), default=-1)
        heard = [content for content in contents if content.role == "user"]
        return Asked(
            model=path.rpartition("/models/")[2].partition(":")[0],
            is_streamed="streamGenerateContent" in path,
            last_text=heard[-1].text() if heard else "",
            prompt_text=contents[prompt_at].text() if prompt_at >= 0 else "",
            step=sum(content.role == "model" for content in contents[prompt_at + 1 :]),
        )

    def render_stream(self, reply: Reply, asked: Asked) -> list[Piece]:
        thinking = reply.thinking_deltas()
        parts: list[dict[str, Any]] = [{"text": part, "thought": True} for part in thinking]
        parts += [{"text": part} for part in reply.text_deltas()]
        parts += _call_parts(reply.tool_calls)
        pieces = [_chunk(asked, [part], None, reply.usage) for part in parts]
        # The thinking behind the text comes with its last part, which may be empty.
        last: dict[str, Any] = {"text": ""}
        if thinking and reply.text and not reply.tool_calls:
            last["thoughtSignature"] = sign("".join(reply.text_deltas()))
        return [*pieces, _chunk(asked, [last], _finish(reply), reply.usage, is_delta=False)]

    def render_whole(self, reply: Reply, asked: Asked) -> bytes:
        parts: list[dict[str, Any]] = []
        if reply.thinking:
            parts.append({"text": "".join(reply.thinking_deltas()), "thought": True})
        if reply.text:
            parts.append({"text": "".join(reply.text_deltas())})
        parts += _call_parts(reply.tool_calls)
        return msgspec.json.encode(_document(asked, parts, _finish(reply), reply.usage))

    def render_failure(self, fault: Fault, asked: Asked) -> Failure:
        status = fault.status or 500
        return Failure(status, {}, msgspec.json.encode({"error": _error(status, fault, asked.model)}))

    def render_stream_error(self, fault: Fault, asked: Asked) -> bytes:
        return b"data: %s\r\n\r\n" % msgspec.json.encode(
            {"error": _error(fault.status or 503, fault, asked.model)}
        )

    def render_models(self, models: tuple[str, ...]) -> bytes:
        embedding = {"name": "models/embedding", "supportedGenerationMethods": ["embedContent"]}
        return msgspec.json.encode({"models": [embedding, *(_model(name) for name in models)]})

    def render_model(self, model: str) -> bytes:
        return msgspec.json.encode(_model(model))


class VertexWire(GeminiWire):
    """The same API at Vertex, where models are listed in the publishers' format."""

    def render_models(self, models: tuple[str, ...]) -> bytes:
        names = [f"publishers/google/models/{name}" for name in (*models, "imagen-5")]
        return msgspec.json.encode({"publisherModels": [{"name": name} for name in names]})


def _call_parts(calls: tuple[ToolCall, ...]) -> list[dict[str, Any]]:
    """Sign the first call of an answer, as the vendor does."""
    parts: list[dict[str, Any]] = []
    for index, call in enumerate(calls):
        identity = call.id if call.id is not None else f"{REQUEST_MARK}{index:04d}"
        part: dict[str, Any] = {"functionCall": {"name": call.name, "args": _arguments(call), "id": identity}}
        if not index:
            part["thoughtSignature"] = sign(call.name)
        parts.append(part)
    return parts


def _arguments(call: ToolCall) -> dict[str, Any]:
    try:
        return msgspec.json.decode(call.arguments_text(), type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise ScriptError(
            f"the arguments of {call.name} are no JSON object; Gemini sends no others"
        ) from error


def _chunk(
    asked: Asked, parts: list[dict[str, Any]], finish: str | None, usage: Usage, *, is_delta: bool = True
) -> Piece:
    data = msgspec.json.encode(_document(asked, parts, finish, usage))
    return Piece(b"data: %s\r\n\r\n" % data, is_delta)


def _document(asked: Asked, parts: list[dict[str, Any]], finish: str | None, usage: Usage) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish is not None:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": {
            "promptTokenCount": usage.input_tokens,
            "candidatesTokenCount": usage.output_tokens - usage.reasoning_tokens,
            "thoughtsTokenCount": usage.reasoning_tokens,
            "cachedContentTokenCount": usage.cached_tokens,
            "totalTokenCount": usage.input_tokens + usage.output_tokens,
        },
        "modelVersion": asked.model,
        "responseId": REQUEST_MARK,
    }


def _finish(reply: Reply) -> str:
    match reply.finish:
        case None | "stop" | "tool_calls":
            return "STOP"
        case "length":
            return "MAX_TOKENS"
        case "content_filter":
            return "SAFETY"
        case other:
            return other


def _model(name: str) -> dict[str, Any]:
    methods = ["generateContent", "countTokens"]
    return {"name": f"models/{name}", "displayName": name, "supportedGenerationMethods": methods}


def _error(status: int, fault: Fault, model: str) -> dict[str, Any]:
    message = fault.message or _message(status, fault.kind, model)
    details: list[dict[str, Any]] = []
    if fault.kind == "quota_used_up":
        quota = {"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}
        details.append({"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [quota]})
    if fault.retry_after_s is not None:
        delay = f"{fault.retry_after_s:g}s"
        details.append({"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay})
    name = _STATUSES.get(status, "INVALID_ARGUMENT" if status < 500 else "INTERNAL")
    return {"code": status, "message": message, "status": name, "details": details}


def _message(status: int, kind: str, model: str) -> str:
    if kind == "context_full":
        return "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    if kind == "quota_used_up" or status == 429:
        return "You exceeded your current quota, please check your plan and billing details."
    match status:
        case 401 | 403:
            return "Method doesn't allow unregistered callers."
        case 404:
            return f"models/{model} is not found for API version v1beta."
        case 503 | 529:
            return "The model is overloaded. Please try again later."
        case _ if status < 500:
            return "Request contains an invalid argument."
        case _:
            return "An internal error has occurred."


def _check_history(contents: list[_Content]) -> None:
    if not contents:
        raise BadRequestError("* GenerateContentRequest.contents: contents is not specified")
    open_calls = 0
    for place, content in enumerate(contents):
        if not content.parts:
            raise BadRequestError("Unable to submit request because it must have at least one parts field.")
        if len(content.responses()) != open_calls:
            raise BadRequestError(
                "Please ensure that the number of function response parts is equal to the number of function "
                "call parts of the function call turn."
            )
        calls = content.calls()
        open_calls = len(calls)
        call = calls[0].function_call if calls else None
        if call is not None and calls[0].thought_signature not in (sign(call.name), _UNSIGNED):
            raise BadRequestError(
                f"Function call `{call.name}` in the {place + 1}. content block is missing a "
                "`thought_signature`."
            )
    if open_calls:
        raise BadRequestError("Please ensure that function call turn comes before a function response turn.")
