"""Anthropic's messages.

Knows: requests with cache marks, blocks, events, thinking that goes back word for word. Does not know: HTTP,
what is done with a reply. Source: Claude API reference, "Messages", "Streaming" and "Prompt caching".
"""

import re

import msgspec
from msgspec import Struct, structs

from hermes_acp.core.messages import (
    AssistantMessage,
    FinishReason,
    Fragment,
    ImagePart,
    Message,
    ModelReply,
    ModelRequest,
    Part,
    TextPart,
    Thought,
    ToolCall,
    Usage,
    UserMessage,
)
from hermes_acp.models.endpoint_client import EndpointClient
from hermes_acp.models.endpoint_errors import EndpointRefusal, ErrorBody, read_error
from hermes_acp.models.endpoints import Endpoint
from hermes_acp.models.message_parts import ContentBlock, merged_by_role, ordered_pieces, text_of
from hermes_acp.models.model_catalog import level_of, model_info_of, thinks_adaptively
from hermes_acp.models.reply_stream import FragmentQueue, name_calls, object_of
from hermes_acp.models.sse import SseDecoder
from hermes_acp.models.unsupported_parameters import UnsupportedParameter, first_unsupported
from hermes_acp.models.wire_format import WireConnection, read_listing

_BASE_URL = "https://api.anthropic.com"
_VERSION = "2023-06-01"
_MAX_TOKENS = 8192
_REDACTED = "redacted:"
_VENDOR = "anthropic"
_UNSUPPORTED_PARAMETERS = (
    UnsupportedParameter("effort", "effort|output_config", (b'"effort":',)),
    UnsupportedParameter("thoughts", "thinking|signature", (b'"signature":', b'"redacted_thinking"')),
    UnsupportedParameter("thinking", "thinking|signature", (b'"display":"summarized"',)),
)


class _CacheMark(Struct, frozen=True, tag_field="type", tag="ephemeral"):
    """Asks the vendor to keep everything up to here."""


def find_unsupported(refusal: EndpointRefusal, body: bytes, omitted: frozenset[str]) -> str | None:
    """Name what to leave out of a request refused for its thinking.

    Thinking is bound to the model and the history it was had in; after a change of either the vendor refuses
    it, and the step goes on without. Models that are not in the catalog may have no levels of effort.
    """
    return (
        first_unsupported(_UNSUPPORTED_PARAMETERS, refusal, body, omitted) if refusal.status == 400 else None
    )


def encode_request(request: ModelRequest, omitted: frozenset[str] = frozenset()) -> bytes:
    """Write the body with at most four cache marks: tools, stable layers, all layers, history."""
    limit = (
        request.max_output_tokens
        or model_info_of(request.model, "anthropic").max_output_tokens
        or _MAX_TOKENS
    )
    body: dict[str, object] = {"model": request.model, "max_tokens": limit, "stream": True}
    if thinks_adaptively(request.model) and "thinking" not in omitted:
        # These models think anyway; without this what they think, and say between calls, would come empty.
        body["thinking"] = {"type": "adaptive", "display": "summarized"}
    level = level_of(request, _VENDOR)
    if level == "none" and "thinking" not in omitted:
        body["thinking"] = {"type": "disabled"}
    elif level is not None and level != "none" and "effort" not in omitted:
        body["output_config"] = {"effort": level}
    system: list[ContentBlock] = [
        {"type": "text", "text": layer} for layer in request.system if layer.strip()
    ]
    for block in system[-2:]:
        block["cache_control"] = _CacheMark()
    if system:
        body["system"] = system
    if request.tools:
        tools: list[ContentBlock] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
        tools[-1]["cache_control"] = _CacheMark()
        body["tools"] = tools
    elif any(isinstance(message, AssistantMessage) and message.tool_calls for message in request.messages):
        # A history with calls is refused without any tool; this one stands for all and cannot be called.
        body["tools"] = [{"name": "none", "description": "No tool.", "input_schema": {"type": "object"}}]
        body["tool_choice"] = {"type": "none"}
    body["messages"] = _encode_messages(request.messages, "thoughts" not in omitted)
    return msgspec.json.encode(body)


def _encode_messages(messages: tuple[Message, ...], keeps_thoughts: bool) -> list[ContentBlock]:
    """Merge neighbours of one role, and mark the end of the history to be kept."""
    merged = merged_by_role(
        messages,
        lambda message: _encode_message(message, keeps_thoughts),
        model="assistant",
        is_result=lambda block: block["type"] == "tool_result",
    )
    if merged and merged[-1][0] == "user":
        merged[-1][1][-1]["cache_control"] = _CacheMark()
    return [{"role": role, "content": blocks} for role, blocks in merged]


def _encode_message(message: Message, keeps_thoughts: bool) -> list[ContentBlock]:
    if isinstance(message, UserMessage):
        return [block for part in message.parts if (block := _encode_part(part)) is not None]
    if isinstance(message, AssistantMessage):
        return _encode_assistant(message, keeps_thoughts)
    result: ContentBlock = {"type": "tool_result", "tool_use_id": _valid_id(message.call_id)}
    if message.text.strip():
        result["content"] = message.text
    if message.parts:
        parts = (TextPart(message.text), *message.parts)
        result["content"] = [block for part in parts if (block := _encode_part(part)) is not None]
    if message.is_error:
        result["is_error"] = True
    return [result]


def _encode_assistant(message: AssistantMessage, keeps_thoughts: bool) -> list[ContentBlock]:
    if not message.text.strip() and not message.tool_calls:
        return []
    blocks: list[ContentBlock] = []
    for piece in ordered_pieces(message, _VENDOR):
        match piece:
            case str():
                blocks.append({"type": "text", "text": piece})
            case Thought(signature=signature):
                if keeps_thoughts and signature:
                    blocks.append(_encode_thought(piece))
            case ToolCall(id=call_id, name=name, arguments=arguments):
                use: ContentBlock = {"type": "tool_use", "id": _valid_id(call_id), "name": name}
                blocks.append(use | {"input": object_of(arguments)})
    return blocks


def _encode_thought(thought: Thought) -> ContentBlock:
    if thought.signature.startswith(_REDACTED):
        return {"type": "redacted_thinking", "data": thought.signature.removeprefix(_REDACTED)}
    return {"type": "thinking", "thinking": thought.text, "signature": thought.signature}


def _encode_part(part: Part) -> ContentBlock | None:
    """Write one part; None for words that are none, which the vendor refuses."""
    if isinstance(part, ImagePart):
        source = {"type": "base64", "media_type": part.mime_type, "data": part.data_base64}
        return {"type": "image", "source": source}
    text = text_of(part)
    return {"type": "text", "text": text} if text.strip() else None


def _valid_id(call_id: str) -> str:
    """Spell an id another vendor gave in the letters this one takes; its own stay as they are."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)


class _Usage(Struct, frozen=True):
    input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    output_tokens: int | None = None


class _Message(Struct, frozen=True):
    usage: _Usage | None = None


class _BlockStart(Struct, frozen=True):
    type: str
    id: str = ""
    name: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    data: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")


class _Delta(Struct, frozen=True):
    type: str = ""
    text: str = ""
    thinking: str = ""
    signature: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Event(Struct, frozen=True):
    type: str
    index: int = 0
    message: _Message | None = None
    content_block: _BlockStart | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None
    error: ErrorBody | None = None


class _GrowingBlock:
    """A block of which more may come."""

    def __init__(self, start: _BlockStart) -> None:
        self.start = start
        self.words: list[str] = []
        self.signature = start.signature
        self.arguments: list[str] = []


class MessageAssembly:
    """Puts one stream of events together."""

    def __init__(self, request: ModelRequest, link: EndpointClient) -> None:
        self._request = request
        self._link = link
        self._decoder = msgspec.json.Decoder(_Event)
        self._fragments = FragmentQueue()
        self._blocks: dict[int, _GrowingBlock] = {}
        self._usage = _Usage()
        self._stop_reason: str | None = None
        self._is_over = False

    def take(self, data: bytes) -> None:
        """Read one event; kinds not known are passed over, as the vendor may add some."""
        event = self._decoder.decode(data)
        match event.type:
            case "content_block_delta":
                if event.delta is not None and event.index in self._blocks:
                    self._take_delta(self._blocks[event.index], event.delta)
            case "content_block_start":
                if event.content_block is not None:
                    self._open_block(event.index, event.content_block)
            case "message_start":
                if event.message is not None:
                    self._take_usage(event.message.usage)
            case "message_delta":
                self._take_usage(event.usage)
                if event.delta is not None:
                    self._stop_reason = event.delta.stop_reason or self._stop_reason
            case "message_stop":
                self._is_over = True
            case "error":
                raise self._link.trouble(read_error(0, event.error or ErrorBody()), self._request.model)
            case _:
                pass

    def drain(self) -> list[Fragment]:
        """Return what arrived since the last drain, neighbours of one kind joined."""
        return self._fragments.drain()

    def is_over(self) -> bool:
        """Say whether the end marker came."""
        return self._is_over

    def is_whole(self) -> bool:
        """Say whether the end marker came; this vendor always sends it."""
        return self._is_over

    def reply(self) -> ModelReply:
        """Make the reply."""
        blocks = [self._blocks[index] for index in sorted(self._blocks)]
        calls = [
            ToolCall(block.start.id, block.start.name, "".join(block.arguments) or _whole_input(block.start))
            for block in blocks
            if block.start.type == "tool_use"
        ]
        text = "".join(word for block in blocks if block.start.type == "text" for word in block.words)
        thoughts = _read_thoughts(blocks)
        message = AssistantMessage(text, thoughts, name_calls(calls, self._request))
        return ModelReply(message, self._finish_reason(bool(calls)), self._total_usage())

    def _open_block(self, index: int, start: _BlockStart) -> None:
        block = self._blocks[index] = _GrowingBlock(start)
        self._take_delta(block, _Delta(text=start.text, thinking=start.thinking))

    def _take_delta(self, block: _GrowingBlock, delta: _Delta) -> None:
        if delta.text:
            block.words.append(delta.text)
            self._fragments.add_text(delta.text)
        if delta.thinking:
            block.words.append(delta.thinking)
            self._fragments.add_thought(delta.thinking)
        if delta.partial_json:
            block.arguments.append(delta.partial_json)
            self._fragments.add_call(block.start.id, block.start.name, delta.partial_json)
        block.signature += delta.signature

    def _take_usage(self, usage: _Usage | None) -> None:
        """Take the newer of each count; they are cumulative."""
        counts = msgspec.structs.asdict(usage) if usage is not None else {}
        self._usage = msgspec.structs.replace(
            self._usage, **{name: count for name, count in counts.items() if count is not None}
        )

    def _total_usage(self) -> Usage:
        usage = self._usage
        cached = usage.cache_read_input_tokens or 0
        sent = (usage.input_tokens or 0) + cached + (usage.cache_creation_input_tokens or 0)
        return Usage(sent, usage.output_tokens or 0, cached)

    def _finish_reason(self, has_calls: bool) -> FinishReason:
        match self._stop_reason:
            case "max_tokens" | "model_context_window_exceeded":
                return "length"
            case "refusal":
                return "refusal"
            case _:
                return "tool_calls" if has_calls else "stop"


def _whole_input(start: _BlockStart) -> str:
    """Return the arguments of servers that send a call whole."""
    return bytes(start.input).decode()


def _read_thoughts(blocks: list[_GrowingBlock]) -> tuple[Thought, ...]:
    thoughts: list[Thought] = []
    calls = 0
    for block in blocks:
        match block.start.type:
            case "redacted_thinking":
                thoughts.append(Thought("", _REDACTED + block.start.data, _VENDOR, after_calls=calls))
            case "thinking":
                thoughts.append(Thought("".join(block.words), block.signature, _VENDOR, after_calls=calls))
            case kind:
                calls += kind == "tool_use"
    return tuple(thoughts)


class Anthropic:
    """The leaf; also the wire of the connections it makes."""

    name = _VENDOR
    models_paths = ("/v1/models?limit=1000",)
    passing = frozenset({"thoughts", "thinking"})

    decoder = SseDecoder
    find_unsupported = staticmethod(find_unsupported)
    assembly = staticmethod(MessageAssembly)
    read_models = staticmethod(read_listing)

    def connect(self, endpoint: Endpoint) -> WireConnection:
        """Bind to an endpoint; without a base URL, to Anthropic itself. A base URL may end in /v1 or not."""
        endpoint = endpoint.or_own(_BASE_URL, "ANTHROPIC_API_KEY")
        base_url = endpoint.base_url.rstrip("/").removesuffix("/v1")
        return WireConnection(self, structs.replace(endpoint, base_url=base_url))

    def headers(self, key: str) -> dict[str, str]:
        """Name the version of the format, and carry the key where there is one."""
        return {"anthropic-version": _VERSION} | ({"x-api-key": key} if key else {})

    def chat_path(self, model: str) -> str:
        """Return the one path there is."""
        return "/v1/messages"

    def encode(self, request: ModelRequest, link: EndpointClient, omitted: frozenset[str]) -> bytes:
        """Write the body of a step, the same for every host."""
        return encode_request(request, omitted)


PROVIDER = Anthropic()
