"""The wire format of OpenAI's Responses API.

Source: OpenAI API reference, "Responses" and "Streaming events", and the types in the `openai` package, 3.54.
"""

import msgspec
from msgspec import Struct

from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    ModelRequest,
    TextPart,
    Thought,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from hermes_acp.models.formats.block_encoder import BlockEncoder, ContentBlock, to_json
from hermes_acp.models.formats.message_parts import data_url_of, valid_arguments
from hermes_acp.models.formats.reply_assembly import ReplyAssembly, ReplyBlock, StopReasons
from hermes_acp.models.formats.wire_format import WireFormat
from hermes_acp.models.model_catalog import efforts_of, level_of
from hermes_acp.models.wire.endpoint_client import EndpointClient
from hermes_acp.models.wire.endpoint_errors import ErrorBody
from hermes_acp.models.wire.unsupported_parameters import UnsupportedParameter

_VENDOR = "openai_responses"
_ENCRYPTED = "reasoning.encrypted_content"


def encode_request(
    request: ModelRequest, omitted: frozenset[str] = frozenset(), provider: str = _VENDOR
) -> bytes:
    """Encode the body. The vendor stores nothing, so reasoning arrives encrypted and is sent back with the history."""
    body: dict[str, object] = {"model": request.model, "stream": True, "store": False}
    system = "\n\n".join(layer for layer in request.system if layer)
    if system:
        body["instructions"] = system
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
                "strict": False,
            }
            for tool in request.tools
        ]
    efforts = efforts_of(request.model, provider)
    if efforts and "reasoning" not in omitted:
        level = level_of(request, provider)
        effort = {} if level is None or "effort" in omitted else {"effort": level}
        body["reasoning"] = effort if "summary" in omitted else effort | {"summary": "auto"}
    if efforts and "include" not in omitted:
        body["include"] = [_ENCRYPTED]
    if request.max_output_tokens is not None:
        body["max_output_tokens"] = request.max_output_tokens
    encoder = _ItemEncoder(omitted)
    body["input"] = request.encoding.of(request.messages, encoder.variant, lambda: _Items(encoder)).items
    return msgspec.json.encode(body)


class _ItemEncoder(BlockEncoder):
    vendor = _VENDOR
    takes_blank_text = True

    def __init__(self, omitted: frozenset[str]) -> None:
        super().__init__(omitted)
        self._tells_phase = "phase" not in omitted

    def text(self, text: str) -> ContentBlock:
        return {"type": "input_text", "text": text}

    def image(self, image: ImagePart) -> ContentBlock:
        return {"type": "input_image", "image_url": data_url_of(image), "detail": "auto"}

    def call(self, call: ToolCall) -> ContentBlock:
        arguments = valid_arguments(call.arguments)
        return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}

    def result(self, message: ToolMessage) -> list[ContentBlock]:
        parts = self.parts((TextPart(message.text), *message.parts)) if message.parts else []
        output = {"call_id": message.call_id, "output": parts or message.text}
        return [{"type": "function_call_output", **output}]

    def answer_text(self, text: str, answer: AssistantMessage) -> ContentBlock:
        # The vendor distinguishes text between calls from the final answer, and expects the distinction to be sent
        # back.
        phase = "commentary" if answer.tool_calls else "final_answer"
        said: ContentBlock = {"role": "assistant", "content": text}
        return said | ({"phase": phase} if self._tells_phase else {})

    def thought(self, thought: Thought) -> ContentBlock | None:
        if not thought.vendor:
            return None
        summary = [{"type": "summary_text", "text": thought.text}] if thought.text else []
        item: ContentBlock = {"type": "reasoning", "summary": summary, "encrypted_content": thought.signature}
        return item | ({"id": thought.id} if thought.id else {})

    def message(self, message: Message) -> list[ContentBlock]:
        items = super().message(message)
        return [{"role": "user", "content": items}] if items and isinstance(message, UserMessage) else items


class _Items:
    """A history as a flat list of items."""

    def __init__(self, encoder: _ItemEncoder) -> None:
        self.items: list[msgspec.Raw] = []
        self._encoder = encoder

    def add(self, message: Message) -> None:
        self.items += map(to_json, self._encoder.message(message))


class _Piece(Struct, frozen=True):
    """A part of an item's content or summary."""

    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Item(Struct, frozen=True):
    type: str = ""
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    encrypted_content: str | None = None
    summary: list[_Piece] | None = None
    content: list[_Piece] | None = None


class _InputDetails(Struct, frozen=True):
    cached_tokens: int | None = None


class _Usage(Struct, frozen=True):
    input_tokens: int | None = None
    output_tokens: int | None = None
    input_tokens_details: _InputDetails | None = None


class _Incomplete(Struct, frozen=True):
    reason: str | None = None


class _Response(Struct, frozen=True):
    usage: _Usage | None = None
    error: ErrorBody | None = None
    incomplete_details: _Incomplete | None = None
    output: list[_Item] | None = None


class _Event(Struct, frozen=True):
    type: str
    output_index: int = 0
    summary_index: int = 0
    delta: str = ""
    item: _Item | None = None
    response: _Response | None = None
    error: ErrorBody | None = None
    code: object = ""
    message: object = ""


class ResponseAssembly(ReplyAssembly):
    """Assembles one stream of events."""

    vendor = _VENDOR
    stop_reasons = StopReasons(length="max_.*", refusal="content_filter")
    _decoder = msgspec.json.Decoder(_Event)

    def __init__(self, request: ModelRequest, link: EndpointClient) -> None:
        super().__init__(request, link)
        self._summary_indexes: dict[int, int] = {}

    def take(self, data: bytes) -> None:
        """Process one event; unknown kinds are ignored, because the vendor may add new ones."""
        if data == b"[DONE]":
            return
        event = self._decoder.decode(data)
        match event.type:
            case "response.output_text.delta":
                self.add_text(event.output_index, event.delta)
            case "response.refusal.delta":
                self.was_refused = True
                self.add_text(event.output_index, event.delta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._take_thought(event.output_index, event.summary_index, event.delta)
            case "response.function_call_arguments.delta":
                self.blocks[event.output_index].is_call = True
                self.add_arguments(event.output_index, event.delta)
            case "response.output_item.added":
                _describe(self.blocks[event.output_index], event.item or _Item())
            case "response.output_item.done":
                self._complete(event.output_index, event.item or _Item())
            case "response.completed" | "response.incomplete":
                self._finish(event.response or _Response())
            case "response.failed":
                self.fail((event.response or _Response()).error or ErrorBody())
            case "error":
                self.fail(event.error or ErrorBody(message=event.message, code=event.code))
            case _:
                pass

    def _take_thought(self, index: int, summary_index: int, text: str) -> None:
        """Add reasoning; each part of a summary is a paragraph."""
        if summary_index > self._summary_indexes.get(index, 0):
            self._summary_indexes[index] = summary_index
            text = f"\n\n{text}"
        self.add_thought(index, text)

    def _complete(self, index: int, item: _Item) -> None:
        """Process a finished item, whose encrypted content is complete only now."""
        block = self.blocks[index]
        _describe(block, item)
        if item.arguments is not None:
            block.arguments = [item.arguments]
        if block.text or block.thoughts:
            return
        for piece in item.content or ():
            words = piece.text or piece.refusal or ""
            self.was_refused = self.was_refused or bool(words and not piece.text)
            if item.type == "reasoning":
                self._take_thought(index, 0, words)
            else:
                self.add_text(index, words)
        for place, piece in enumerate(item.summary or ()):
            self._take_thought(index, place, piece.text or "")

    def _finish(self, response: _Response) -> None:
        if not self.blocks:
            # Some gateways send no separate items.
            for index, item in enumerate(response.output or ()):
                self._complete(index, item)
        self.has_ended = True
        self.usage = _read_usage(response.usage or _Usage())
        self.stop_reason = (response.incomplete_details or _Incomplete()).reason


def _describe(block: ReplyBlock, item: _Item) -> None:
    if item.type == "function_call":
        block.open_call(item.call_id or item.id or "", item.name or "")
    elif item.type == "reasoning":
        block.id, block.signature = item.id or "", item.encrypted_content or ""


def _read_usage(usage: _Usage) -> Usage:
    details = usage.input_tokens_details or _InputDetails()
    return Usage(usage.input_tokens or 0, usage.output_tokens or 0, details.cached_tokens or 0)


class OpenAIResponses(WireFormat):
    """The plugin for OpenAI's Responses API."""

    name = _VENDOR
    base_url = "https://api.openai.com/v1"
    key_variable = "OPENAI_API_KEY"
    path = "/responses"
    # Models that do not reason refuse this field. Encrypted reasoning is bound to its model and account.
    unsupported = (
        UnsupportedParameter("summary", r"summar(?:y|ies)", (b'"summary":"auto"',)),
        UnsupportedParameter("effort", r"\beffort\b", (b'"effort":',)),
        UnsupportedParameter("phase", r"\bphase\b", (b'"phase":',)),
        UnsupportedParameter("include", r"encrypted|\binclude\b", (b'"include":',)),
        UnsupportedParameter(
            "thoughts", r"encrypted|\breasoning\b|signature|thinking", (b'"type":"reasoning"',)
        ),
        UnsupportedParameter("reasoning", r"\breasoning\b", (b'"reasoning":',)),
    )
    refusal_statuses = (400, 422)
    omitted_once = frozenset({"thoughts"})
    assembly = ResponseAssembly

    def encode(self, request: ModelRequest, link: EndpointClient, omitted: frozenset[str]) -> bytes:
        """Return the body of a request."""
        return encode_request(request, omitted, link.endpoint.name or _VENDOR)


PROVIDER = OpenAIResponses()
