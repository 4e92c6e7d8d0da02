"""The wire format of Anthropic's Messages API.

Source: Claude API reference, "Messages", "Streaming" and "Prompt caching"; "Tool search tool".
"""

import re

import msgspec
from msgspec import Struct, structs

from hermes_acp.core.found_tools import found_names
from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    ModelRequest,
    TextPart,
    Thought,
    ToolCall,
    ToolMessage,
    ToolSchema,
    Usage,
)
from hermes_acp.models.formats.block_encoder import BlockEncoder, ContentBlock
from hermes_acp.models.formats.message_parts import object_of
from hermes_acp.models.formats.reply_assembly import ReplyAssembly, StopReasons
from hermes_acp.models.formats.wire_format import WireConnection, WireFormat
from hermes_acp.models.model_catalog import level_of, model_info_of, thinks_adaptively
from hermes_acp.models.wire.endpoint_client import EndpointClient
from hermes_acp.models.wire.endpoint_errors import ErrorBody
from hermes_acp.models.wire.endpoints import Endpoint
from hermes_acp.models.wire.unsupported_parameters import UnsupportedParameter

_VERSION = "2023-06-01"
_MAX_TOKENS = 8192
_REDACTED = "redacted:"
_VENDOR = "anthropic"
_HOST = "api.anthropic.com"
_LOADS_TOOLS = re.compile(r"^claude-(?:opus|sonnet)-[4-9]|^claude-haiku-(?:4-5|[5-9])")
"""Matches models with tool search. Source: Claude API documentation, "Tool search tool"."""


class _CacheMark(Struct, frozen=True, tag_field="type", tag="ephemeral"):
    """A request to cache everything up to this point."""


def encode_request(request: ModelRequest, omitted: frozenset[str] = frozenset()) -> bytes:
    """Encode the body with at most four cache marks: after the tools, stable layers, all layers, and the history."""
    limit = (
        request.max_output_tokens or model_info_of(request.model, _VENDOR).max_output_tokens or _MAX_TOKENS
    )
    body: dict[str, object] = {"model": request.model, "max_tokens": limit, "stream": True}
    if thinks_adaptively(request.model) and "thinking" not in omitted:
        # These models always think. Without this field, their thoughts and the text between calls are empty.
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
        tools = [_tool(tool) for tool in request.tools]
        tools[-1]["cache_control"] = _CacheMark()
        body["tools"] = tools + _found_tools(request, omitted)
    elif any(isinstance(message, AssistantMessage) and message.tool_calls for message in request.messages):
        # A history with calls is refused if no tool is defined. This tool is never called.
        body["tools"] = [{"name": "none", "description": "No tool.", "input_schema": {"type": "object"}}]
        body["tool_choice"] = {"type": "none"}
    deferred = () if "deferred" in omitted else request.deferred
    turns = _BlockEncoder(omitted, frozenset(tool.name for tool in deferred)).turns(request)
    body["messages"] = turns.turns(_mark)
    return msgspec.json.encode(body)


def _tool(tool: ToolSchema) -> ContentBlock:
    return {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}


def _found_tools(request: ModelRequest, omitted: frozenset[str]) -> list[ContentBlock]:
    """Encode the deferred tools that the model has found.

    They may change: the vendor expands them where they were found.
    """
    if not request.deferred or "deferred" in omitted:
        return []
    found = {name for message in request.messages for name in found_names(message)}
    return [_tool(tool) | {"defer_loading": True} for tool in request.deferred if tool.name in found]


def _mark(block: msgspec.Raw) -> list[msgspec.Raw]:
    """Encode a block with a cache mark added; the block must be an object with at least one field."""
    return [msgspec.Raw(b'%b,"cache_control":%b}' % (bytes(block)[:-1], msgspec.json.encode(_CacheMark())))]


class _BlockEncoder(BlockEncoder):
    vendor = _VENDOR
    result_field = "tool_use_id"

    def __init__(self, omitted: frozenset[str], deferred: frozenset[str]) -> None:
        super().__init__(omitted)
        self._deferred = deferred
        self.variant = (*self.variant, deferred)

    def text(self, text: str) -> ContentBlock:
        return {"type": "text", "text": text}

    def image(self, image: ImagePart) -> ContentBlock:
        source = {"type": "base64", "media_type": image.mime_type, "data": image.data_base64}
        return {"type": "image", "source": source}

    def call(self, call: ToolCall) -> ContentBlock:
        arguments = object_of(call.arguments)
        return {"type": "tool_use", "id": _valid_id(call.id), "name": call.name, "input": arguments}

    def result(self, message: ToolMessage) -> list[ContentBlock]:
        result: ContentBlock = {"type": "tool_result", "tool_use_id": _valid_id(message.call_id)}
        if message.parts:
            result["content"] = self.parts((TextPart(message.text), *message.parts))
        elif names := [name for name in found_names(message) if name in self._deferred]:
            result["content"] = [{"type": "tool_reference", "tool_name": name} for name in names]
        elif message.text.strip():
            result["content"] = message.text
        return [result | ({"is_error": True} if message.is_error else {})]

    def thought(self, thought: Thought) -> ContentBlock:
        if thought.signature.startswith(_REDACTED):
            return {"type": "redacted_thinking", "data": thought.signature.removeprefix(_REDACTED)}
        return {"type": "thinking", "thinking": thought.text, "signature": thought.signature}


def _valid_id(call_id: str) -> str:
    """Convert another vendor's ID to the characters that this vendor allows; its own IDs stay unchanged."""
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


class MessageAssembly(ReplyAssembly):
    """Assembles one stream of events."""

    vendor = _VENDOR
    stop_reasons = StopReasons(length="max_tokens|model_context_window_exceeded", refusal="refusal")
    _decoder = msgspec.json.Decoder(_Event)
    _counts = _Usage()

    def take(self, data: bytes) -> None:
        """Process one event; unknown kinds are ignored, because the vendor may add new ones."""
        event = self._decoder.decode(data)
        match event.type:
            case "content_block_delta":
                if event.delta is not None and event.index in self.blocks:
                    self._take_delta(event.index, event.delta)
            case "content_block_start":
                if event.content_block is not None:
                    self._open_block(event.index, event.content_block)
            case "message_start":
                if event.message is not None:
                    self._take_usage(event.message.usage)
            case "message_delta":
                self._take_usage(event.usage)
                if event.delta is not None:
                    self.stop_reason = event.delta.stop_reason or self.stop_reason
            case "message_stop":
                self.has_ended = True
            case "error":
                self.fail(event.error or ErrorBody())
            case _:
                pass

    def is_whole(self) -> bool:
        """Return whether the end marker has arrived; this vendor always sends one."""
        return self.has_ended

    def _open_block(self, index: int, start: _BlockStart) -> None:
        block = self.blocks[index]
        if start.type == "tool_use":
            block.open_call(start.id, start.name)
            block.whole_arguments = bytes(start.input).decode()
        block.signature = _REDACTED + start.data if start.type == "redacted_thinking" else ""
        self._take_delta(index, _Delta(text=start.text, thinking=start.thinking, signature=start.signature))

    def _take_delta(self, index: int, delta: _Delta) -> None:
        self.add_text(index, delta.text)
        self.add_thought(index, delta.thinking)
        self.add_arguments(index, delta.partial_json)
        self.blocks[index].signature += delta.signature

    def _take_usage(self, usage: _Usage | None) -> None:
        """Keep the latest value of each count; counts are cumulative."""
        newer = {
            name: count for name, count in structs.asdict(usage or _Usage()).items() if count is not None
        }
        counts = self._counts = structs.replace(self._counts, **newer)
        cached = counts.cache_read_input_tokens or 0
        sent = (counts.input_tokens or 0) + cached + (counts.cache_creation_input_tokens or 0)
        self.usage = Usage(sent, counts.output_tokens or 0, cached)


class Anthropic(WireFormat):
    """The plugin for Anthropic's Messages API."""

    name = _VENDOR
    base_url = "https://api.anthropic.com"
    key_variable = "ANTHROPIC_API_KEY"
    path = "/v1/messages"
    models_paths = ("/v1/models?limit=1000",)
    # Thinking is bound to its model and history; after a change to either, the vendor refuses it. Models that are not
    # in the catalogue may have no effort levels.
    unsupported = (
        UnsupportedParameter("effort", "effort|output_config", (b'"effort":',)),
        UnsupportedParameter("thoughts", "thinking|signature", (b'"signature":', b'"redacted_thinking"')),
        UnsupportedParameter("thinking", "thinking|signature", (b'"display":"summarized"',)),
        UnsupportedParameter("deferred", "defer_loading|tool.reference", (b'"tool_reference"',)),
    )
    omitted_once = frozenset({"thoughts", "thinking"})
    assembly = MessageAssembly

    def connect(self, endpoint: Endpoint) -> WireConnection:
        """Bind to an endpoint, whether or not its base URL ends in /v1."""
        base_url = endpoint.base_url.rstrip("/").removesuffix("/v1")
        return super().connect(structs.replace(endpoint, base_url=base_url))

    def headers(self, key: str) -> dict[str, str]:
        """Return the header for the format's version and, if there is a key, the header for it."""
        return {"anthropic-version": _VERSION} | ({"x-api-key": key} if key else {})

    def encode(self, request: ModelRequest, link: EndpointClient, omitted: frozenset[str]) -> bytes:
        """Encode the body of a request; only the vendor's own host loads tools on demand."""
        can_load = link.host == _HOST and _LOADS_TOOLS.search(request.model)
        return encode_request(request, omitted if can_load else omitted | {"deferred"})


PROVIDER = Anthropic()
