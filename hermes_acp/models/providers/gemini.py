"""Google's generateContent, streamed.

Knows: requests, chunks, thought signatures that go back on the part they came with. Does not know: HTTP, what is done
with a reply. Source: Gemini API reference, "generateContent", "Thinking", "Thought signatures" and "Function calling",
and the types of the `google-genai` package, 3.4.
"""

from urllib.parse import quote

import msgspec
from msgspec import Struct

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
    ToolMessage,
    Usage,
    UserMessage,
)
from hermes_acp.models.credential_providers import google_signer
from hermes_acp.models.endpoint_client import EndpointClient
from hermes_acp.models.endpoint_errors import EndpointRefusal, ErrorBody, read_error
from hermes_acp.models.endpoints import Endpoint
from hermes_acp.models.message_parts import ContentBlock, merged_by_role, ordered_pieces, text_of
from hermes_acp.models.model_catalog import efforts_of, level_of
from hermes_acp.models.reply_stream import FragmentQueue, name_calls, object_of
from hermes_acp.models.sse import SseDecoder
from hermes_acp.models.unsupported_parameters import UnsupportedParameter, first_unsupported
from hermes_acp.models.wire_format import WireConnection

_BASE_URL = "https://generativelanguage.googleapis.com/v1beta"
_VENDOR = "gemini"
_UNSIGNED = "skip_thought_signature_validator"
"""What the vendor takes for the signature of a call that another model made."""

_REFUSALS = frozenset(
    {
        "SAFETY",
        "RECITATION",
        "LANGUAGE",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "ESCALATION",
        "MODEL_ARMOR",
        "PUP_LIMITED_DISABLED",
    }
)
_UNSUPPORTED_PARAMETERS = (
    UnsupportedParameter("thoughts", "signature", (b'"thoughtSignature":',)),
    UnsupportedParameter("thinking", "think", (b'"thinkingConfig":',)),
)


def find_unsupported(refusal: EndpointRefusal, body: bytes, omitted: frozenset[str]) -> str | None:
    """Name what to leave out: signatures that are not this model's, or thinking it does not do."""
    return (
        first_unsupported(_UNSUPPORTED_PARAMETERS, refusal, body, omitted) if refusal.status == 400 else None
    )


def encode_request(request: ModelRequest, omitted: frozenset[str] = frozenset()) -> bytes:
    """Write the body."""
    body: ContentBlock = {"contents": _encode_messages(request, "thoughts" not in omitted)}
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
    """Say how much to think: by level, before the third generation in tokens, as the vendor translates them."""
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


def _encode_messages(request: ModelRequest, keeps_thoughts: bool) -> list[ContentBlock]:
    """Merge neighbours of one role."""
    wants_signatures = not _is_second_generation(request.model)
    merged = merged_by_role(
        request.messages,
        lambda message: _encode_message(message, keeps_thoughts, wants_signatures),
        model="model",
        is_result=lambda part: "functionResponse" in part,
    )
    return [{"role": role, "parts": parts} for role, parts in merged]


def _encode_message(message: Message, keeps_thoughts: bool, wants_signatures: bool) -> list[ContentBlock]:
    if isinstance(message, UserMessage):
        return [encoded for part in message.parts if (encoded := _encode_part(part)) is not None]
    if isinstance(message, AssistantMessage):
        return _encode_assistant(message, keeps_thoughts, wants_signatures)
    return [_encode_result(message), *filter(None, map(_encode_part, message.parts))]


def _encode_result(message: ToolMessage) -> ContentBlock:
    response = {"error" if message.is_error else "output": message.text}
    return {"functionResponse": {"id": message.call_id, "name": message.name, "response": response}}


def _encode_assistant(
    message: AssistantMessage, keeps_thoughts: bool, wants_signatures: bool
) -> list[ContentBlock]:
    parts: list[ContentBlock] = []
    signature = ""
    is_first_call = True
    for piece in ordered_pieces(message, _VENDOR):
        match piece:
            case Thought(vendor=vendor):
                # What was thought needs not go back; the signature goes on the words it came with.
                signature = piece.signature if vendor and keeps_thoughts else ""
            case str():
                said: ContentBlock = {"text": piece}
                parts.append(said | ({"thoughtSignature": signature} if signature else {}))
            case ToolCall():
                part = _encode_call(piece)
                signed = piece.signature if keeps_thoughts else ""
                if not signed and wants_signatures and is_first_call:
                    signed = _UNSIGNED
                parts.append(part | ({"thoughtSignature": signed} if signed else {}))
                is_first_call = False
    return parts


def _encode_call(call: ToolCall) -> ContentBlock:
    return {"functionCall": {"id": call.id, "name": call.name, "args": object_of(call.arguments)}}


def _encode_part(part: Part) -> ContentBlock | None:
    """Write one part; None for words that are none."""
    if isinstance(part, ImagePart):
        return {"inlineData": {"mimeType": part.mime_type, "data": part.data_base64}}
    text = text_of(part)
    return {"text": text} if text.strip() else None


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


class ContentAssembly:
    """Puts one stream of chunks together."""

    def __init__(self, request: ModelRequest, link: EndpointClient) -> None:
        self._request = request
        self._link = link
        self._decoder = msgspec.json.Decoder(_Chunk)
        self._fragments = FragmentQueue()
        self._text: list[str] = []
        self._thought: list[str] = []
        self._thoughts: list[Thought] = []
        self._calls: list[ToolCall] = []
        self._usage = _Usage()
        self._finish: str | None = None
        self._was_blocked = False

    def take(self, data: bytes) -> None:
        """Read one chunk."""
        chunk = self._decoder.decode(data)
        if chunk.error is not None:
            raise self._link.trouble(read_error(0, chunk.error), self._request.model)
        if chunk.usage_metadata is not None:
            self._usage = chunk.usage_metadata
        if chunk.prompt_feedback is not None and chunk.prompt_feedback.block_reason:
            self._was_blocked = True
        # One answer is asked for, so there is one candidate.
        for candidate in (chunk.candidates or ())[:1]:
            for part in (candidate.content.parts if candidate.content is not None else None) or ():
                self._take_part(part)
            self._finish = candidate.finish_reason or self._finish

    def drain(self) -> list[Fragment]:
        """Return what arrived since the last drain, neighbours of one kind joined."""
        return self._fragments.drain()

    def is_over(self) -> bool:
        """Say whether the end marker came; there is none, the stream just ends."""
        return False

    def is_whole(self) -> bool:
        """Say whether a finish reason came, or the prompt was blocked."""
        return self._finish is not None or self._was_blocked

    def reply(self) -> ModelReply:
        """Make the reply. Raises BadReply for a call that the vendor itself could not read."""
        if self._finish in ("MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"):
            raise BadReply(f"The model at {self._link.place} wrote a tool call that is none.", retryable=True)
        if any(not call.name for call in self._calls):
            raise BadReply(f"{self._link.place} sent a tool call without a name.", retryable=True)
        self._close_thought("")
        calls = name_calls(self._calls, self._request)
        message = AssistantMessage("".join(self._text), tuple(self._thoughts), calls)
        return ModelReply(message, self._finish_reason(), self._total_usage())

    def _take_part(self, part: _Part) -> None:
        if part.function_call is not None:
            self._close_thought("")
            call, signature = part.function_call, part.thought_signature
            self._calls.append(ToolCall(call.id, call.name, bytes(call.args).decode(), signature))
        elif part.thought:
            if part.text:
                self._thought.append(part.text)
                self._fragments.add_thought(part.text)
        else:
            if part.thought_signature:
                self._close_thought(part.thought_signature)
            if part.text:
                self._text.append(part.text)
                self._fragments.add_text(part.text)

    def _close_thought(self, signature: str) -> None:
        """Keep what was thought so far, and the signature the words came with."""
        if self._thought or signature:
            text = "".join(self._thought)
            self._thoughts.append(Thought(text, signature, _VENDOR, after_calls=len(self._calls)))
            self._thought = []

    def _finish_reason(self) -> FinishReason:
        match self._finish:
            case None if self._was_blocked:
                return "refusal"
            case "MAX_TOKENS":
                return "length"
            case finish if finish in _REFUSALS:
                return "refusal"
            case _:
                return "tool_calls" if self._calls else "stop"

    def _total_usage(self) -> Usage:
        usage = self._usage
        sent = (usage.prompt_token_count or 0) + (usage.tool_use_prompt_token_count or 0)
        said = (usage.candidates_token_count or 0) + (usage.thoughts_token_count or 0)
        return Usage(sent, said, usage.cached_content_token_count or 0)


class _Model(Struct, frozen=True, rename="camel"):
    name: str
    supported_generation_methods: list[str] | None = None


class _Listing(Struct, frozen=True, rename="camel"):
    models: list[_Model] = []
    publisher_models: list[_Model] = []


def read_models(document: bytes) -> tuple[str, ...]:
    """Read the models that make text. Raises msgspec.DecodeError."""
    listing = msgspec.json.decode(document, type=_Listing)
    if published := [model.name.rpartition("/")[2] for model in listing.publisher_models]:
        return tuple(name for name in published if name.startswith("gemini-"))
    return tuple(
        model.name.removeprefix("models/")
        for model in listing.models
        if model.supported_generation_methods is None
        or "generateContent" in model.supported_generation_methods
    )


class Gemini:
    """The leaf; also the wire of the connections it makes."""

    name = _VENDOR
    models_paths = ("/models?pageSize=1000",)
    passing = frozenset({"thoughts"})

    decoder = SseDecoder
    find_unsupported = staticmethod(find_unsupported)
    assembly = staticmethod(ContentAssembly)
    read_models = staticmethod(read_models)

    def connect(self, endpoint: Endpoint) -> WireConnection:
        """Bind to an endpoint; without a base URL, to Google itself; with a loan, to Vertex."""
        if endpoint.credential_source:
            # Models are listed for everybody, in another version of the interface.
            listing_url = endpoint.base_url.partition("/v1/projects/")[0] + "/v1beta1/publishers/google"
            return WireConnection(
                self, endpoint, sign=google_signer(endpoint.credential_source), listing_url=listing_url
            )
        return WireConnection(self, endpoint.or_own(_BASE_URL, "GEMINI_API_KEY"))

    def headers(self, key: str) -> dict[str, str]:
        """Carry the key where there is one."""
        return {"x-goog-api-key": key} if key else {}

    def chat_path(self, model: str) -> str:
        """Name the model in the path."""
        return f"/models/{quote(model.removeprefix('models/'), safe='')}:streamGenerateContent?alt=sse"

    def encode(self, request: ModelRequest, link: EndpointClient, omitted: frozenset[str]) -> bytes:
        """Write the body of a step."""
        return encode_request(request, omitted)


PROVIDER = Gemini()
