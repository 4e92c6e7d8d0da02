"""The wire format of Amazon Bedrock's ConverseStream API.

Source: Amazon Bedrock API reference, "ConverseStream", and the service's description in the `botocore` package, 1.44.
Why requests are signed here: docs/decisions/0002-vendor-packages.md.
"""

import re
from urllib.parse import quote

import msgspec
from msgspec import Struct, structs

from hermes_acp.core.errors import ConfigError
from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    ModelRequest,
    Thought,
    ToolCall,
    ToolMessage,
    Usage,
)
from hermes_acp.core.ports.model_ports import ListedModel
from hermes_acp.models.credentials.aws_signatures import Credentials, Scope
from hermes_acp.models.credentials.credential_providers import aws_signer, static_signer
from hermes_acp.models.formats.block_encoder import BlockEncoder, ContentBlock, to_json
from hermes_acp.models.formats.message_parts import object_of
from hermes_acp.models.formats.reply_assembly import ReplyAssembly, StopReasons
from hermes_acp.models.formats.wire_format import WireConnection, WireFormat
from hermes_acp.models.model_catalog import level_of, model_info_of, thinks_adaptively
from hermes_acp.models.wire.aws_event_stream import EventStreamDecoder
from hermes_acp.models.wire.endpoint_client import EndpointClient, RequestSigner
from hermes_acp.models.wire.endpoint_errors import ErrorBody
from hermes_acp.models.wire.endpoints import Endpoint, bearer
from hermes_acp.models.wire.unsupported_parameters import UnsupportedParameter

_VENDOR = "bedrock"
_REDACTED = "redacted:"
_REGION = re.compile(r"\b[a-z]{2}(?:-[a-z]+)+-\d\b")
_KEY_PAIR = re.compile(r"A[A-Z0-9]{15,127}:")
_EXCEPTION = re.compile(r"\w+Exception|error")


def encode_request(request: ModelRequest, omitted: frozenset[str] = frozenset()) -> bytes:
    """Encode the body, with cache points after tools, layers and history if the model supports caching."""
    model = request.model
    caches = "cache" not in omitted and any(name in model for name in ("claude", "nova"))
    point: list[ContentBlock] = [{"cachePoint": {"type": "default"}}] if caches else []
    turns = _BlockEncoder(omitted).turns(request)
    body: dict[str, object] = {"messages": turns.turns(lambda last: [last, *map(to_json, point)])}
    system: list[ContentBlock] = [{"text": layer} for layer in request.system if layer.strip()]
    if system:
        body["system"] = [*system, *point]
    if tools := _encode_tools(request):
        body["toolConfig"] = {"tools": [*tools, *point]}
    limit = request.max_output_tokens or model_info_of(model, _VENDOR).max_output_tokens
    if limit is not None:
        body["inferenceConfig"] = {"maxTokens": limit}
    level = level_of(request, _VENDOR)
    if level is not None and level != "none" and "effort" not in omitted:
        body["outputConfig"] = {"effort": level}
    if thinks_adaptively(model) and "thinking" not in omitted:
        thinking = {"type": "disabled"} if level == "none" else {"type": "adaptive", "display": "summarized"}
        body["additionalModelRequestFields"] = {"thinking": thinking}
    return msgspec.json.encode(body)


def _encode_tools(request: ModelRequest) -> list[ContentBlock]:
    """Describe the tools, including those used in past calls: a history with calls is refused without them."""
    tools: list[ContentBlock] = [
        {
            "toolSpec": {
                "name": tool.name,
                "description": tool.description,
                "inputSchema": {"json": tool.parameters},
            }
        }
        for tool in request.tools
    ]
    if tools:
        return tools
    called = {
        call.name: None
        for message in request.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    }
    schema = {"json": {"type": "object"}}
    return [
        {"toolSpec": {"name": name, "description": "No longer available.", "inputSchema": schema}}
        for name in called
    ]


class _BlockEncoder(BlockEncoder):
    vendor = _VENDOR
    result_field = "toolResult"

    def text(self, text: str) -> ContentBlock:
        return {"text": text}

    def image(self, image: ImagePart) -> ContentBlock:
        kind = image.mime_type.rpartition("/")[2].replace("jpg", "jpeg")
        return {"image": {"format": kind, "source": {"bytes": image.data_base64}}}

    def call(self, call: ToolCall) -> ContentBlock:
        arguments = object_of(call.arguments)
        return {"toolUse": {"toolUseId": _valid_id(call.id), "name": call.name, "input": arguments}}

    def result(self, message: ToolMessage) -> list[ContentBlock]:
        content = [{"text": message.text or "(nothing)"}, *self.parts(message.parts)]
        result: ContentBlock = {"toolUseId": _valid_id(message.call_id), "content": content}
        return [{"toolResult": result | ({"status": "error"} if message.is_error else {})}]

    def thought(self, thought: Thought) -> ContentBlock | None:
        if not thought.vendor:
            return None
        if thought.signature.startswith(_REDACTED):
            return {"reasoningContent": {"redactedContent": thought.signature.removeprefix(_REDACTED)}}
        return {"reasoningContent": {"reasoningText": {"text": thought.text, "signature": thought.signature}}}


def _valid_id(call_id: str) -> str:
    """Convert another vendor's ID to the characters that this vendor allows; its own IDs stay unchanged."""
    return re.sub(r"[^a-zA-Z0-9_.:-]", "_", call_id)[:64]


class _ToolUse(Struct, frozen=True, rename="camel"):
    tool_use_id: str = ""
    name: str = ""
    input: str = ""


class _Reasoning(Struct, frozen=True, rename="camel"):
    text: str = ""
    signature: str = ""
    redacted_content: str = ""


class _Piece(Struct, frozen=True, rename="camel"):
    """The start of a block, or a delta."""

    text: str = ""
    tool_use: _ToolUse | None = None
    reasoning_content: _Reasoning | None = None


class _BlockEvent(Struct, frozen=True, rename="camel"):
    content_block_index: int = 0
    start: _Piece | None = None
    delta: _Piece | None = None


class _Stop(Struct, frozen=True, rename="camel"):
    stop_reason: str = ""


class _Usage(Struct, frozen=True, rename="camel"):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int | None = None
    cache_write_input_tokens: int | None = None


class _Metadata(Struct, frozen=True):
    usage: _Usage = _Usage()


class _Event(Struct, frozen=True, rename="camel"):
    content_block_start: _BlockEvent | None = None
    content_block_delta: _BlockEvent | None = None
    message_stop: _Stop | None = None
    metadata: _Metadata | None = None


class ConverseAssembly(ReplyAssembly):
    """Assembles one stream of events; the last event contains the usage."""

    vendor = _VENDOR
    stop_reasons = StopReasons(
        length="max_tokens|model_context_window_exceeded",
        refusal="guardrail_intervened|content_filtered|refusal",
        malformed="malformed_.*",
    )
    _decoder = msgspec.json.Decoder(_Event)

    def take(self, data: bytes) -> None:
        """Process one event, which is the only field of an object; unknown kinds are ignored."""
        event = self._decoder.decode(data)
        if event.content_block_start is not None:
            use = (event.content_block_start.start or _Piece()).tool_use
            if use is not None:
                self.blocks[event.content_block_start.content_block_index].open_call(
                    use.tool_use_id, use.name
                )
        elif event.content_block_delta is not None:
            self._take_delta(event.content_block_delta.content_block_index, event.content_block_delta.delta)
        elif event.message_stop is not None:
            self.stop_reason = event.message_stop.stop_reason
        elif event.metadata is not None:
            self.usage = _read_usage(event.metadata.usage)
            self.has_ended = self.stop_reason is not None
        else:
            self._take_exception(data)

    def _take_delta(self, index: int, delta: _Piece | None) -> None:
        delta = delta or _Piece()
        self.add_text(index, delta.text)
        if delta.tool_use is not None:
            self.add_arguments(index, delta.tool_use.input)
        if (reasoning := delta.reasoning_content) is not None:
            self.add_thought(index, reasoning.text)
            redacted = _REDACTED + reasoning.redacted_content if reasoning.redacted_content else ""
            self.blocks[index].signature += reasoning.signature or redacted

    def _take_exception(self, data: bytes) -> None:
        """Raise the error that an event reports, if any."""
        for kind, error in msgspec.json.decode(data, type=dict[str, msgspec.Raw]).items():
            if _EXCEPTION.fullmatch(kind):
                self.fail(structs.replace(msgspec.json.decode(error, type=ErrorBody), type=kind))


def _read_usage(usage: _Usage) -> Usage:
    cached = usage.cache_read_input_tokens or 0
    sent = usage.input_tokens + cached + (usage.cache_write_input_tokens or 0)
    return Usage(sent, usage.output_tokens, cached)


class _Profile(Struct, frozen=True, rename="camel"):
    model_id: str = ""
    inference_profile_id: str = ""


class _Listing(Struct, frozen=True, rename="camel"):
    model_summaries: list[_Profile] = []
    inference_profile_summaries: list[_Profile] = []


class Bedrock(WireFormat):
    """The plugin for Amazon Bedrock."""

    name = _VENDOR
    key_variable = "AWS_BEARER_TOKEN_BEDROCK"
    # Newer models are available only through inference profiles.
    models_paths = (
        "/inference-profiles?maxResults=1000",
        "/foundation-models?byInferenceType=ON_DEMAND&byOutputModality=TEXT",
    )
    # Reasoning from another model is refused, and some of the fields are accepted only by some models.
    unsupported = (
        UnsupportedParameter("thoughts", "signature|reasoning|thinking", (b'"reasoningContent":',)),
        UnsupportedParameter("cache", "cache", (b'"cachePoint":',)),
        UnsupportedParameter("effort", "effort|outputConfig", (b'"outputConfig":',)),
        UnsupportedParameter("thinking", "thinking", (b'"additionalModelRequestFields":',)),
    )
    omitted_once = frozenset({"thoughts"})
    assembly = ConverseAssembly

    def connect(self, endpoint: Endpoint) -> WireConnection:
        """Bind to an endpoint. Raises ConfigError without a base URL, because each region has its own."""
        if not endpoint.base_url:
            raise ConfigError("The base URL of Amazon Bedrock is missing.", hint="Set AWS_REGION.")
        endpoint = endpoint.or_own("", self.key_variable)
        # Models are listed by the control-plane endpoint.
        listing_url = endpoint.base_url.replace("//bedrock-runtime.", "//bedrock.", 1)
        is_own = listing_url != endpoint.base_url
        sign = _signer(endpoint)
        return WireConnection(self, endpoint, sign=sign, listing_url=listing_url if is_own else "")

    def headers(self, key: str) -> dict[str, str]:
        """Return the header for a bearer key, if any; with an ID and a secret, each request is signed instead."""
        return {} if _KEY_PAIR.match(key) else bearer(key)

    def chat_path(self, model: str) -> str:
        """Return the path, which includes the model's name."""
        return f"/model/{quote(model, safe='')}/converse-stream"

    def decoder(self) -> EventStreamDecoder:
        """Return a decoder for Amazon's event frames."""
        return EventStreamDecoder()

    def encode(self, request: ModelRequest, link: EndpointClient, omitted: frozenset[str]) -> bytes:
        """Return the body of a request."""
        return encode_request(request, omitted)

    def read_models(self, document: bytes) -> tuple[ListedModel, ...]:
        """Parse a list of models or profiles. Raises msgspec.DecodeError."""
        listing = msgspec.json.decode(document, type=_Listing)
        summaries = (*listing.inference_profile_summaries, *listing.model_summaries)
        return tuple(ListedModel(summary.inference_profile_id or summary.model_id) for summary in summaries)


def _signer(endpoint: Endpoint) -> RequestSigner | None:
    key = endpoint.api_key.strip()
    if endpoint.credential_source and not key:
        return aws_signer(endpoint.credential_source, _scope(endpoint))
    if not _KEY_PAIR.match(key):
        return None
    key_id, secret, *token = key.split(":", 2)
    return static_signer(Credentials(key_id, secret, *token), _scope(endpoint))


def _scope(endpoint: Endpoint) -> Scope:
    """Return the signature's scope; the region is taken from the URL, because the service checks it against the URL."""
    found = _REGION.search(endpoint.base_url.partition("://")[2].partition("/")[0])
    return Scope(
        found.group() if found else endpoint.credential_source.get("region") or "us-east-1", "bedrock"
    )


PROVIDER = Bedrock()
