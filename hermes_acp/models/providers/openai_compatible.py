"""OpenAI's chat completions, and the many servers that speak them with an accent.

Knows: requests, chunks, the deviations seen in the wild. Does not know: HTTP, what is done with a reply.
Source: OpenAI API reference, "Chat completions" and "Streaming events".
"""

import re

import msgspec
from msgspec import Struct

from hermes_acp.config.provider_presets import Quirks
from hermes_acp.core.errors import BadReply
from hermes_acp.core.messages import (
    AssistantMessage,
    Effort,
    FinishReason,
    Fragment,
    ImagePart,
    Message,
    ModelReply,
    ModelRequest,
    Part,
    Thought,
    ToolCall,
    Usage,
    UserMessage,
)
from hermes_acp.models.endpoint_client import EndpointClient
from hermes_acp.models.endpoint_errors import EndpointRefusal, ErrorBody, read_error
from hermes_acp.models.endpoints import Endpoint, bearer
from hermes_acp.models.message_parts import ContentBlock, data_url_of, text_of, with_parts_after_results
from hermes_acp.models.model_catalog import level_of
from hermes_acp.models.reply_stream import FragmentQueue, name_calls, valid_arguments
from hermes_acp.models.sse import SseDecoder
from hermes_acp.models.wire_format import WireConnection, read_listing

_BASE_URL = "https://api.openai.com/v1"
_OWN_HOST = "api.openai.com"
_UNSUPPORTED_PARAMETERS = (
    "stream_options",
    "reasoning_content",
    "reasoning_effort",
    "chat_template_kwargs",
    "enable_thinking",
    "thinking",
    "reasoning",
)


def find_unsupported(refusal: EndpointRefusal, body: bytes, omitted: frozenset[str]) -> str | None:
    """Name the optional field a server refused, where asking once more without it may help.

    `reasoning_effort` goes the other way: models that reason take no tools here unless it is sent as `none`. A server
    that does not know it at all concedes `effort`.
    """
    if refusal.status not in (400, 422):
        return None
    for parameter in _UNSUPPORTED_PARAMETERS:
        if parameter in omitted or not refusal.matches(re.compile(rf"\b{parameter}\b")):
            continue
        is_sent = f'"{parameter}":'.encode() in body
        if parameter != "reasoning_effort":
            if is_sent:
                return parameter
        elif b'"tools"' in body and (not is_sent or refusal.matches(re.compile(r"\bnone\b"))):
            return parameter
        elif is_sent and "effort" not in omitted:
            return "effort"
    return None


def encode_request(
    request: ModelRequest, host: str, omitted: frozenset[str], quirks: Quirks | None = None, name: str = ""
) -> bytes:
    """Write the body for `host` in its accent, minus what it does not take; `name` is the preset's."""
    quirks = quirks or Quirks()
    messages: list[ContentBlock] = []
    system = "\n\n".join(layer for layer in request.system if layer)
    if system:
        messages.append({"role": "system", "content": system})
    thoughts = "" if host == _OWN_HOST or quirks.thoughts in omitted else quirks.thoughts
    for message in with_parts_after_results(request.messages):
        messages += _encode_message(message, thoughts)
    body: ContentBlock = {"model": request.model, "messages": messages, "stream": True}
    if quirks.stream_options and "stream_options" not in omitted:
        body["stream_options"] = {"include_usage": True}
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                },
            }
            for tool in request.tools
        ]
    level = level_of(request, name)
    if level is not None and "effort" not in omitted:
        fields = _encode_effort(level, quirks)
        body |= {field: value for field, value in fields.items() if field not in omitted}
    if request.tools and "reasoning_effort" in omitted:
        body["reasoning_effort"] = "none"
    if request.max_output_tokens is not None:
        limit = quirks.max_tokens or ("max_completion_tokens" if host == _OWN_HOST else "max_tokens")
        body[limit] = request.max_output_tokens
    return msgspec.json.encode(body)


def _encode_effort(level: Effort, quirks: Quirks) -> ContentBlock:
    """Say how much to reason in the words of the endpoint."""
    is_on = level != "none"
    switch: ContentBlock = {"type": "enabled" if is_on else "disabled"}
    match quirks.effort:
        case "reasoning_effort":
            return {"reasoning_effort": level}
        case "reasoning":
            return {"reasoning": {"effort": level}}
        case "thinking":
            return {"thinking": switch}
        case "thinking_and_effort":
            return {"thinking": switch, "reasoning_effort": level} if is_on else {"thinking": switch}
        case "enable_thinking":
            return {"enable_thinking": is_on}
        case "chat_template_kwargs":
            return {"chat_template_kwargs": {"enable_thinking": is_on}}
        case "":
            return {}


def _encode_message(message: Message, thoughts: str) -> list[ContentBlock]:
    if isinstance(message, UserMessage):
        return [{"role": "user", "content": _encode_parts(message.parts)}]
    if isinstance(message, AssistantMessage):
        return _encode_assistant(message, thoughts)
    return [{"role": "tool", "tool_call_id": message.call_id, "content": message.text}]


def _encode_assistant(message: AssistantMessage, thoughts: str) -> list[ContentBlock]:
    """Write one answer; `thoughts` names the field its reasoning goes into, empty where it is not wanted."""
    if not message.text and not message.tool_calls:
        return []
    reasoning = (
        "".join(thought.text for thought in message.thoughts if not thought.signature) if thoughts else ""
    )
    encoded: ContentBlock = {"role": "assistant", "content": message.text or None}
    if message.tool_calls:
        encoded["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": valid_arguments(call.arguments)},
            }
            for call in message.tool_calls
        ]
        # Reasoning models of some vendors refuse their own calls without the reasoning that led to them.
        if reasoning and thoughts != "content":
            encoded[thoughts] = reasoning
    if reasoning and thoughts == "content":
        encoded["content"] = f"<think>\n{reasoning}\n</think>\n\n{message.text}"
    return [encoded]


def _encode_parts(parts: tuple[Part, ...]) -> str | list[ContentBlock]:
    """Write plain text where there is no picture, as many servers take nothing else."""
    texts = [text_of(part) for part in parts if not isinstance(part, ImagePart)]
    if len(texts) == len(parts):
        return "\n\n".join(texts)
    return [
        {"type": "image_url", "image_url": {"url": data_url_of(part)}}
        if isinstance(part, ImagePart)
        else {"type": "text", "text": text_of(part)}
        for part in parts
    ]


class _FunctionDelta(Struct, frozen=True):
    name: str | None = None
    arguments: str | dict[str, object] | None = None


class _CallDelta(Struct, frozen=True):
    index: int | None = None
    id: str | None = None
    function: _FunctionDelta | None = None


class _Delta(Struct, frozen=True):
    content: str | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[_CallDelta] | None = None
    function_call: _FunctionDelta | None = None


class _Choice(Struct, frozen=True):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _PromptDetails(Struct, frozen=True):
    cached_tokens: int | None = None


class _Usage(Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    prompt_tokens_details: _PromptDetails | None = None
    prompt_cache_hit_tokens: int | None = None


class _Chunk(Struct, frozen=True):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: ErrorBody | str | None = None


class _GrowingCall:
    """A call of which more may come."""

    def __init__(self, index: int | None, identity: str) -> None:
        self.index = index
        self.identity = identity
        self.name = ""
        self.arguments: list[str] = []


class ChatAssembly:
    """Puts one stream of chunks together."""

    def __init__(self, request: ModelRequest, link: EndpointClient) -> None:
        self._request = request
        self._link = link
        self._decoder = msgspec.json.Decoder(_Chunk)
        self._fragments = FragmentQueue()
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._calls: list[_GrowingCall] = []
        self._usage = Usage()
        self._finish: str | None = None
        self._was_refused = False
        self._is_done = False

    def take(self, data: bytes) -> None:
        """Read one chunk, or the end marker."""
        if data == b"[DONE]":
            self._is_done = True
            return
        chunk = self._decoder.decode(data)
        if chunk.error is not None:
            error = chunk.error if isinstance(chunk.error, ErrorBody) else ErrorBody(message=chunk.error)
            raise self._link.trouble(read_error(0, error), self._request.model)
        if chunk.usage is not None:
            self._usage = _read_usage(chunk.usage)
        for choice in chunk.choices or ():
            self._finish = choice.finish_reason or self._finish
            if choice.delta is not None:
                self._take_delta(choice.delta)

    def drain(self) -> list[Fragment]:
        """Return what arrived since the last drain, neighbours of one kind joined."""
        return self._fragments.drain()

    def is_over(self) -> bool:
        """Say whether the end marker came."""
        return self._is_done

    def is_whole(self) -> bool:
        """Say whether a reply can be made: some servers send no end marker, others no finish reason."""
        return self._is_done or self._finish is not None

    def reply(self) -> ModelReply:
        """Make the reply. Raises BadReply for a call of no tool."""
        if any(not call.name for call in self._calls):
            raise BadReply(f"{self._link.place} sent a tool call without a name.", retryable=True)
        calls = [ToolCall(call.identity, call.name, "".join(call.arguments)) for call in self._calls]
        thoughts = (Thought("".join(self._thoughts)),) if self._thoughts else ()
        message = AssistantMessage("".join(self._text), thoughts, name_calls(calls, self._request))
        return ModelReply(message, self._finish_reason(), self._usage)

    def _take_delta(self, delta: _Delta) -> None:
        if thought := delta.reasoning_content or delta.reasoning:
            self._thoughts.append(thought)
            self._fragments.add_thought(thought)
        if text := delta.content or delta.refusal:
            self._was_refused = self._was_refused or not delta.content
            self._text.append(text)
            self._fragments.add_text(text)
        for call in delta.tool_calls or ():
            self._take_call(call)
        if delta.function_call is not None:
            self._take_call(_CallDelta(0, None, delta.function_call))

    def _take_call(self, delta: _CallDelta) -> None:
        function = delta.function or _FunctionDelta()
        call = self._find_call(delta, function.name or "")
        call.name = call.name or function.name or ""
        arguments = function.arguments
        if isinstance(arguments, dict):
            arguments = msgspec.json.encode(arguments).decode()
        if arguments:
            call.arguments.append(arguments)
            self._fragments.add_call(call.identity or str(call.index), call.name, arguments)

    def _find_call(self, delta: _CallDelta, name: str) -> _GrowingCall:
        """Find the call a delta belongs to: by index, without one by id, without either the latest.

        A name together with another id than that of the call found begins a new one: some servers count every
        index 0.
        """
        identity = delta.id or ""
        latest = self._calls[-1] if self._calls else None
        if delta.index is not None:
            found = next((call for call in reversed(self._calls) if call.index == delta.index), None)
        elif identity:
            found = next((call for call in self._calls if call.identity == identity), None)
        else:
            found = None if name else latest
        if found is not None and not (name and identity and found.identity and identity != found.identity):
            found.identity = found.identity or identity
            return found
        call = _GrowingCall(delta.index, identity)
        self._calls.append(call)
        return call

    def _finish_reason(self) -> FinishReason:
        if self._was_refused or self._finish == "content_filter":
            return "refusal"
        if self._finish == "length":
            return "length"
        return "tool_calls" if self._calls else "stop"


def _read_usage(usage: _Usage) -> Usage:
    details = usage.prompt_tokens_details or _PromptDetails()
    cached = details.cached_tokens or usage.prompt_cache_hit_tokens or 0
    return Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0, cached)


class OpenAICompatible:
    """The leaf; also the wire of the connections it makes."""

    name = "openai_compatible"
    models_paths = ("/models",)
    passing = frozenset[str]()

    decoder = SseDecoder
    find_unsupported = staticmethod(find_unsupported)
    assembly = staticmethod(ChatAssembly)
    read_models = staticmethod(read_listing)

    def connect(self, endpoint: Endpoint) -> WireConnection:
        """Bind to an endpoint; without a base URL, to OpenAI itself."""
        return WireConnection(self, endpoint.or_own(_BASE_URL, "OPENAI_API_KEY"))

    def headers(self, key: str) -> dict[str, str]:
        """Carry the key as a bearer token, where there is one."""
        return bearer(key)

    def chat_path(self, model: str) -> str:
        """Return the one path there is."""
        return "/chat/completions"

    def encode(self, request: ModelRequest, link: EndpointClient, omitted: frozenset[str]) -> bytes:
        """Write the body of a step in the accent of its endpoint."""
        endpoint = link.endpoint
        return encode_request(request, link.host, omitted, endpoint.quirks, endpoint.name)


PROVIDER = OpenAICompatible()
