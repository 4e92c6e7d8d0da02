"""The wire format of Google's streamed generateContent API.

Source: Gemini API reference, "generateContent", "Thinking", "Thought signatures" and "Function calling", and the types
in the `google-genai` package, 3.4.
"""

from urllib.parse import quote

import msgspec
from msgspec import Struct

from hermes_acp.core.messages import (
    AssistantMessage,
    Effort,
    ImagePart,
    ModelRequest,
    Thought,
    ToolCall,
    ToolMessage,
    Usage,
)
from hermes_acp.core.ports.model_ports import ListedModel
from hermes_acp.models.credentials.credential_providers import google_signer
from hermes_acp.models.formats.block_encoder import BlockEncoder, ContentBlock, ordered_pieces
from hermes_acp.models.formats.message_parts import object_of
from hermes_acp.models.formats.model_listings import as_window
from hermes_acp.models.formats.reply_assembly import ReplyAssembly, StopReasons
from hermes_acp.models.formats.wire_format import WireConnection, WireFormat
from hermes_acp.models.model_catalog import efforts_of, level_of
from hermes_acp.models.wire.endpoint_client import EndpointClient
from hermes_acp.models.wire.endpoint_errors import ErrorBody
from hermes_acp.models.wire.endpoints import Endpoint
from hermes_acp.models.wire.unsupported_parameters import UnsupportedParameter

_VENDOR = "gemini"
_UNSIGNED = "skip_thought_signature_validator"
"""The signature that the vendor accepts for a call made by another model."""
_BLOCKED = "PROMPT_BLOCKED"
"""The stop reason used here for a blocked prompt, for which the vendor sends none."""


def encode_request(request: ModelRequest, omitted: frozenset[str] = frozenset()) -> bytes:
    """Return the body of a request."""
    encoder = _PartEncoder(omitted, wants_signatures=not _is_second_generation(request.model))
    turns = encoder.turns(request)
    body: ContentBlock = {"contents": turns.turns()}
    system = [{"text": layer} for layer in request.system if layer.strip()]
    if system:
        body["systemInstruction"] = {"parts": system}
    if request.tools:
        declarations = [
            {"name": tool.name, "description": tool.description, "parametersJsonSchema": tool.parameters}
            for tool in request.tools
        ]
        body["tools"] = [{"functionDeclarations": declarations}]
    config: ContentBlock = {}
    if request.max_output_tokens is not None:
        config["maxOutputTokens"] = request.max_output_tokens
    if efforts_of(request.model, _VENDOR) and "thinking" not in omitted:
        level = level_of(request, _VENDOR)
        config["thinkingConfig"] = {"includeThoughts": True} | _encode_effort(request.model, level)
    if config:
        body["generationConfig"] = config
    return msgspec.json.encode(body)


def _encode_effort(model: str, level: Effort | None) -> ContentBlock:
    """Encode how much to think: as a level or, before the third generation, as a token budget."""
    if level is None:
        return {}
    if not _is_second_generation(model):
        return {"thinkingLevel": level}
    match level:
        case "none":
            return {"thinkingBudget": 0}
        case "minimal" | "low":
            return {"thinkingBudget": 1_024}
        case "medium":
            return {"thinkingBudget": 8_192}
        case "high" | "xhigh" | "max":
            return {"thinkingBudget": 24_576}


def _is_second_generation(model: str) -> bool:
    return model.rpartition("/")[2].startswith(("gemini-1", "gemini-2"))


class _PartEncoder(BlockEncoder):
    vendor = _VENDOR
    model_role = "model"
    content_field = "parts"
    result_field = "functionResponse"

    def __init__(self, omitted: frozenset[str], *, wants_signatures: bool) -> None:
        super().__init__(omitted)
        self._wants_signatures = wants_signatures
        self.variant += (wants_signatures,)

    def text(self, text: str) -> ContentBlock:
        return {"text": text}

    def image(self, image: ImagePart) -> ContentBlock:
        return {"inlineData": {"mimeType": image.mime_type, "data": image.data_base64}}

    def call(self, call: ToolCall) -> ContentBlock:
        return {"functionCall": {"id": call.id, "name": call.name, "args": object_of(call.arguments)}}

    def result(self, message: ToolMessage) -> list[ContentBlock]:
        response = {"error" if message.is_error else "output": message.text}
        result = {"id": message.call_id, "name": message.name, "response": response}
        return [{"functionResponse": result}, *self.parts(message.parts)]

    def answer(self, message: AssistantMessage) -> list[ContentBlock]:
        """Encode an answer. Thoughts are not sent back; a signature stays with the text or call with which it came."""
        parts: list[ContentBlock] = []
        signature = ""
        unsigned = _UNSIGNED if self._wants_signatures else ""
        for piece in ordered_pieces(message, _VENDOR):
            match piece:
                case Thought(vendor=vendor):
                    signature = piece.signature if vendor and self.keeps_thoughts else ""
                case str():
                    parts.append(_signed(self.text(piece), signature))
                case ToolCall():
                    own = piece.signature if self.keeps_thoughts else ""
                    parts.append(_signed(self.call(piece), own or unsigned))
                    unsigned = ""
        return parts


def _signed(part: ContentBlock, signature: str) -> ContentBlock:
    return part | ({"thoughtSignature": signature} if signature else {})


class _Call(Struct, frozen=True):
    name: str = ""
    id: str = ""
    args: msgspec.Raw = msgspec.Raw(b"{}")


class _Part(Struct, frozen=True, rename="camel"):
    text: str | None = None
    thought: bool = False
    thought_signature: str = ""
    function_call: _Call | None = None


class _Content(Struct, frozen=True):
    parts: list[_Part] | None = None


class _Candidate(Struct, frozen=True, rename="camel"):
    content: _Content | None = None
    finish_reason: str | None = None


class _Feedback(Struct, frozen=True, rename="camel"):
    block_reason: str | None = None


class _Usage(Struct, frozen=True, rename="camel"):
    prompt_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    candidates_token_count: int | None = None
    thoughts_token_count: int | None = None
    cached_content_token_count: int | None = None


class _Chunk(Struct, frozen=True, rename="camel"):
    candidates: list[_Candidate] | None = None
    prompt_feedback: _Feedback | None = None
    usage_metadata: _Usage | None = None
    error: ErrorBody | None = None


class ContentAssembly(ReplyAssembly):
    """Assembles one stream of chunks. A block ends with a call, or with the signature of its text."""

    vendor = _VENDOR
    stop_reasons = StopReasons(
        length="MAX_TOKENS",
        refusal="SAFETY|RECITATION|LANGUAGE|BLOCKLIST|PROHIBITED_CONTENT|SPII|ESCALATION|MODEL_ARMOR"
        f"|PUP_LIMITED_DISABLED|{_BLOCKED}",
        malformed="MALFORMED_FUNCTION_CALL|UNEXPECTED_TOOL_CALL|MALFORMED_RESPONSE",
    )
    _decoder = msgspec.json.Decoder(_Chunk)
    _index = 0

    def take(self, data: bytes) -> None:
        """Process one chunk."""
        chunk = self._decoder.decode(data)
        if chunk.error is not None:
            self.fail(chunk.error)
        if chunk.usage_metadata is not None:
            self.usage = _read_usage(chunk.usage_metadata)
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason:
            self.stop_reason = self.stop_reason or _BLOCKED
        # Only one answer is requested, so there is one candidate.
        for candidate in (chunk.candidates or ())[:1]:
            for part in (candidate.content.parts if candidate.content is not None else None) or ():
                self._take_part(part)
            self.stop_reason = candidate.finish_reason or self.stop_reason

    def _take_part(self, part: _Part) -> None:
        if (call := part.function_call) is not None:
            block = self.blocks[self._index + 1]
            block.open_call(call.id, call.name)
            block.whole_arguments, block.signature = bytes(call.args).decode(), part.thought_signature
            self._index += 2
        elif part.thought:
            self.add_thought(self._index, part.text or "")
        else:
            self.add_text(self._index, part.text or "")
            if part.thought_signature:
                self.blocks[self._index].signature = part.thought_signature
                self._index += 1


def _read_usage(usage: _Usage) -> Usage:
    sent = (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0)
    said = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
    return Usage(sent, said, usage.cached_content_token_count or 0)


class _Model(Struct, frozen=True, rename="camel"):
    name: str
    supported_generation_methods: list[str] | None = None
    input_token_limit: object = None


class _Listing(Struct, frozen=True, rename="camel"):
    models: list[_Model] = []
    publisher_models: list[_Model] = []


class Gemini(WireFormat):
    """The plugin for Gemini."""

    name = _VENDOR
    base_url = "https://generativelanguage.googleapis.com/v1beta"
    key_variable = "GEMINI_API_KEY"
    models_paths = ("/models?pageSize=1000",)
    # Signatures from other models are refused, as is thinking for models that do not support it.
    unsupported = (
        UnsupportedParameter("thoughts", "signature", (b'"thoughtSignature":',)),
        UnsupportedParameter("thinking", "think", (b'"thinkingConfig":',)),
    )
    omitted_once = frozenset({"thoughts"})
    assembly = ContentAssembly

    def connect(self, endpoint: Endpoint) -> WireConnection:
        """Bind to an endpoint or, with a credential source, to Vertex."""
        if not endpoint.credential_source:
            return super().connect(endpoint)
        # Vertex serves the public list of its models in another API version.
        listing_url = endpoint.base_url.partition("/v1/projects/")[0] + "/v1beta1/publishers/google"
        sign = google_signer(endpoint.credential_source)
        return WireConnection(self, endpoint, sign=sign, listing_url=listing_url)

    def headers(self, key: str) -> dict[str, str]:
        """Return the header for the key, if there is one."""
        return {"x-goog-api-key": key} if key else {}

    def chat_path(self, model: str) -> str:
        """Return the path, which includes the model's name."""
        return f"/models/{quote(model.removeprefix('models/'), safe='')}:streamGenerateContent?alt=sse"

    def encode(self, request: ModelRequest, link: EndpointClient, omitted: frozenset[str]) -> bytes:
        """Return the body of a request."""
        return encode_request(request, omitted)

    def read_models(self, document: bytes) -> tuple[ListedModel, ...]:
        """Parse the list of models, keeping those that generate text. Raises msgspec.DecodeError."""
        listing = msgspec.json.decode(document, type=_Listing)
        if published := [model.name.rpartition("/")[2] for model in listing.publisher_models]:
            return tuple(ListedModel(name) for name in published if name.startswith("gemini-"))
        return tuple(
            ListedModel(model.name.removeprefix("models/"), as_window(model.input_token_limit))
            for model in listing.models
            if model.supported_generation_methods is None
            or "generateContent" in model.supported_generation_methods
        )


PROVIDER = Gemini()
