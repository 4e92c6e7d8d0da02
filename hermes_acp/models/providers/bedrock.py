"""Amazon Bedrock's Converse, streamed.

Knows: requests with cache points, reasoning that goes back word for word, who signs. Does not know: HTTP, how events
are read (`models.converse`). Source: Amazon Bedrock API reference, "ConverseStream", and the service's description in
the `botocore` package, 1.44. Why requests are signed here: docs/decisions/0002-vendor-packages.md.
"""

import re
from urllib.parse import quote

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import ConfigError
from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    ModelRequest,
    Part,
    Thought,
    ToolCall,
    UserMessage,
)
from hermes_acp.models.aws_event_stream import EventStreamDecoder
from hermes_acp.models.aws_signatures import Credentials, Scope
from hermes_acp.models.bedrock_converse import REDACTED, VENDOR, ConverseAssembly
from hermes_acp.models.credential_providers import aws_signer, static_signer
from hermes_acp.models.endpoint_client import EndpointClient, RequestSigner
from hermes_acp.models.endpoint_errors import EndpointRefusal
from hermes_acp.models.endpoints import Endpoint, bearer
from hermes_acp.models.message_parts import ContentBlock, merged_by_role, ordered_pieces, text_of
from hermes_acp.models.model_catalog import level_of, model_info_of, thinks_adaptively
from hermes_acp.models.reply_stream import object_of
from hermes_acp.models.unsupported_parameters import UnsupportedParameter, first_unsupported
from hermes_acp.models.wire_format import WireConnection

_REGION = re.compile(r"\b[a-z]{2}(?:-[a-z]+)+-\d\b")
_KEY_PAIR = re.compile(r"A[A-Z0-9]{15,127}:")
_UNSUPPORTED_PARAMETERS = (
    UnsupportedParameter("thoughts", "signature|reasoning|thinking", (b'"reasoningContent":',)),
    UnsupportedParameter("cache", "cache", (b'"cachePoint":',)),
    UnsupportedParameter("effort", "effort|outputConfig", (b'"outputConfig":',)),
    UnsupportedParameter("thinking", "thinking", (b'"additionalModelRequestFields":',)),
)


def find_unsupported(refusal: EndpointRefusal, body: bytes, omitted: frozenset[str]) -> str | None:
    """Name what to leave out: reasoning another model had, and what only some models take."""
    return (
        first_unsupported(_UNSUPPORTED_PARAMETERS, refusal, body, omitted) if refusal.status == 400 else None
    )


def encode_request(request: ModelRequest, omitted: frozenset[str] = frozenset()) -> bytes:
    """Write the body with cache points where the model has a cache: behind tools, layers and history."""
    model = request.model
    caches = "cache" not in omitted and any(name in model for name in ("claude", "nova"))
    point: list[ContentBlock] = [{"cachePoint": {"type": "default"}}] if caches else []
    body: dict[str, object] = {
        "messages": _encode_messages(request.messages, "thoughts" not in omitted, point)
    }
    system: list[ContentBlock] = [{"text": layer} for layer in request.system if layer.strip()]
    if system:
        body["system"] = [*system, *point]
    if tools := _encode_tools(request):
        body["toolConfig"] = {"tools": [*tools, *point]}
    limit = request.max_output_tokens or model_info_of(model, VENDOR).max_output_tokens
    if limit is not None:
        body["inferenceConfig"] = {"maxTokens": limit}
    level = level_of(request, VENDOR)
    if level is not None and level != "none" and "effort" not in omitted:
        body["outputConfig"] = {"effort": level}
    if thinks_adaptively(model) and "thinking" not in omitted:
        thinking = {"type": "disabled"} if level == "none" else {"type": "adaptive", "display": "summarized"}
        body["additionalModelRequestFields"] = {"thinking": thinking}
    return msgspec.json.encode(body)


def _encode_tools(request: ModelRequest) -> list[ContentBlock]:
    """Describe the tools; those of past calls too, as a history with calls is refused without them."""
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


def _encode_messages(
    messages: tuple[Message, ...], keeps_thoughts: bool, point: list[ContentBlock]
) -> list[ContentBlock]:
    """Merge neighbours of one role, and mark the end of the history to be kept."""
    merged = merged_by_role(
        messages,
        lambda message: _encode_message(message, keeps_thoughts),
        model="assistant",
        is_result=lambda block: "toolResult" in block,
    )
    if merged and merged[-1][0] == "user":
        merged[-1][1].extend(point)
    return [{"role": role, "content": blocks} for role, blocks in merged]


def _encode_message(message: Message, keeps_thoughts: bool) -> list[ContentBlock]:
    if isinstance(message, UserMessage):
        return [block for part in message.parts if (block := _encode_part(part)) is not None]
    if isinstance(message, AssistantMessage):
        return _encode_assistant(message, keeps_thoughts)
    result: ContentBlock = {
        "toolUseId": _valid_id(message.call_id),
        "content": [{"text": message.text or "(nothing)"}, *filter(None, map(_encode_part, message.parts))],
    }
    if message.is_error:
        result["status"] = "error"
    return [{"toolResult": result}]


def _encode_assistant(message: AssistantMessage, keeps_thoughts: bool) -> list[ContentBlock]:
    if not message.text.strip() and not message.tool_calls:
        return []
    blocks: list[ContentBlock] = []
    for piece in ordered_pieces(message, VENDOR):
        match piece:
            case str():
                blocks.append({"text": piece})
            case Thought(signature=signature, vendor=vendor):
                if signature and vendor and keeps_thoughts:
                    blocks.append({"reasoningContent": _encode_thought(piece)})
            case ToolCall(id=call_id, name=name, arguments=arguments):
                use: ContentBlock = {"toolUseId": _valid_id(call_id), "name": name}
                blocks.append({"toolUse": use | {"input": object_of(arguments)}})
    return blocks


def _encode_thought(thought: Thought) -> ContentBlock:
    if thought.signature.startswith(REDACTED):
        return {"redactedContent": thought.signature.removeprefix(REDACTED)}
    return {"reasoningText": {"text": thought.text, "signature": thought.signature}}


def _encode_part(part: Part) -> ContentBlock | None:
    """Write one part; None for words that are none, which the vendor refuses."""
    if isinstance(part, ImagePart):
        kind = part.mime_type.rpartition("/")[2].replace("jpg", "jpeg")
        return {"image": {"format": kind, "source": {"bytes": part.data_base64}}}
    text = text_of(part)
    return {"text": text} if text.strip() else None


def _valid_id(call_id: str) -> str:
    """Spell an id another vendor gave in the letters this one takes; its own stay as they are."""
    return re.sub(r"[^a-zA-Z0-9_.:-]", "_", call_id)[:64]


class _Profile(Struct, frozen=True, rename="camel"):
    model_id: str = ""
    inference_profile_id: str = ""


class _Listing(Struct, frozen=True, rename="camel"):
    model_summaries: list[_Profile] = []
    inference_profile_summaries: list[_Profile] = []


def read_models(document: bytes) -> tuple[str, ...]:
    """Read a list of models or of profiles. Raises msgspec.DecodeError."""
    listing = msgspec.json.decode(document, type=_Listing)
    summaries = (*listing.inference_profile_summaries, *listing.model_summaries)
    return tuple(summary.inference_profile_id or summary.model_id for summary in summaries)


class Bedrock:
    """The leaf; also the wire of the connections it makes."""

    name = VENDOR
    # Newer models are offered by profile alone.
    models_paths = (
        "/inference-profiles?maxResults=1000",
        "/foundation-models?byInferenceType=ON_DEMAND&byOutputModality=TEXT",
    )
    passing = frozenset({"thoughts"})

    decoder = EventStreamDecoder
    find_unsupported = staticmethod(find_unsupported)
    assembly = staticmethod(ConverseAssembly)
    read_models = staticmethod(read_models)

    def connect(self, endpoint: Endpoint) -> WireConnection:
        """Bind to an endpoint. Raises ConfigError without an address: there is one for each region."""
        if not endpoint.base_url:
            raise ConfigError("The base URL of Amazon Bedrock is missing.", hint="Set AWS_REGION.")
        endpoint = endpoint.or_own("", "AWS_BEARER_TOKEN_BEDROCK")
        # Models are listed at the address for administration, which is named alike.
        listing_url = endpoint.base_url.replace("//bedrock-runtime.", "//bedrock.", 1)
        is_own = listing_url != endpoint.base_url
        sign = _signer(endpoint)
        return WireConnection(self, endpoint, sign=sign, listing_url=listing_url if is_own else "")

    def headers(self, key: str) -> dict[str, str]:
        """Carry a bearer key where there is one; a pair of id and secret signs each request instead."""
        return {} if _KEY_PAIR.match(key) else bearer(key)

    def chat_path(self, model: str) -> str:
        """Name the model in the path."""
        return f"/model/{quote(model, safe='')}/converse-stream"

    def encode(self, request: ModelRequest, link: EndpointClient, omitted: frozenset[str]) -> bytes:
        """Write the body of a step."""
        return encode_request(request, omitted)


def _signer(endpoint: Endpoint) -> RequestSigner | None:
    key = endpoint.api_key.strip()
    if endpoint.credential_source and not key:
        return aws_signer(endpoint.credential_source, _scope(endpoint))
    if not _KEY_PAIR.match(key):
        return None
    key_id, secret, *token = key.split(":", 2)
    return static_signer(Credentials(key_id, secret, *token), _scope(endpoint))


def _scope(endpoint: Endpoint) -> Scope:
    """Read the region out of the address, as that is where the signature is looked at."""
    found = _REGION.search(endpoint.base_url.partition("://")[2].partition("/")[0])
    return Scope(
        found.group() if found else endpoint.credential_source.get("region") or "us-east-1", "bedrock"
    )


PROVIDER = Bedrock()
