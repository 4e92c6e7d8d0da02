"""OpenAI's Responses.

Knows: requests that leave nothing with the vendor, items, events, reasoning that goes back sealed. Does not know: HTTP,
what is done with a reply. Source: OpenAI API reference, "Responses" and "Streaming events", and the types of the
`openai` package, 3.54.
"""

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import BadReply
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
from hermes_acp.models.endpoints import Endpoint, bearer
from hermes_acp.models.message_parts import ContentBlock, data_url_of, ordered_pieces, text_of
from hermes_acp.models.model_catalog import efforts_of, level_of
from hermes_acp.models.reply_stream import FragmentQueue, name_calls, valid_arguments
from hermes_acp.models.sse import SseDecoder
from hermes_acp.models.unsupported_parameters import UnsupportedParameter, first_unsupported
from hermes_acp.models.wire_format import WireConnection, read_listing

_BASE_URL = "https://api.openai.com/v1"
_VENDOR = "openai_responses"
_SEALED = "reasoning.encrypted_content"
_UNSUPPORTED_PARAMETERS = (
    UnsupportedParameter("summary", r"summar(?:y|ies)", (b'"summary":"auto"',)),
    UnsupportedParameter("effort", r"\beffort\b", (b'"effort":',)),
    UnsupportedParameter("phase", r"\bphase\b", (b'"phase":',)),
    UnsupportedParameter("include", r"encrypted|\binclude\b", (b'"include":',)),
    UnsupportedParameter("thoughts", r"encrypted|\breasoning\b|signature|thinking", (b'"type":"reasoning"',)),
    UnsupportedParameter("reasoning", r"\breasoning\b", (b'"reasoning":',)),
)


def find_unsupported(refusal: EndpointRefusal, body: bytes, omitted: frozenset[str]) -> str | None:
    """Name what to leave out of a request that was refused for it.

    Models that do not reason know no reasoning; sealed reasoning is bound to the model and the account it was had with.
    """
    return (
        first_unsupported(_UNSUPPORTED_PARAMETERS, refusal, body, omitted)
        if refusal.status in (400, 422)
        else None
    )


def encode_request(
    request: ModelRequest, omitted: frozenset[str] = frozenset(), provider: str = _VENDOR
) -> bytes:
    """Write the body. Nothing is stored there, so reasoning comes sealed and goes back with the history."""
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
        body["include"] = [_SEALED]
    if request.max_output_tokens is not None:
        body["max_output_tokens"] = request.max_output_tokens
    body["input"] = [item for message in request.messages for item in _encode_message(message, omitted)]
    return msgspec.json.encode(body)


def _encode_message(message: Message, omitted: frozenset[str]) -> list[ContentBlock]:
    if isinstance(message, UserMessage):
        parts = [encoded for part in message.parts if (encoded := _encode_part(part)) is not None]
        return [{"role": "user", "content": parts}] if parts else []
    if isinstance(message, AssistantMessage):
        return _encode_assistant(message, omitted)
    output: object = message.text
    if message.parts:
        output = [*filter(None, map(_encode_part, (TextPart(message.text), *message.parts)))]
    return [{"type": "function_call_output", "call_id": message.call_id, "output": output}]


def _encode_assistant(message: AssistantMessage, omitted: frozenset[str]) -> list[ContentBlock]:
    if not message.text.strip() and not message.tool_calls:
        return []
    items: list[ContentBlock] = []
    for piece in ordered_pieces(message, _VENDOR):
        match piece:
            case str():
                said: ContentBlock = {"role": "assistant", "content": piece}
                # The vendor tells words between calls from final ones and wants to know them again.
                phase = "commentary" if message.tool_calls else "final_answer"
                items.append(said if "phase" in omitted else said | {"phase": phase})
            case Thought(signature=sealed, vendor=vendor):
                if sealed and vendor and "thoughts" not in omitted:
                    items.append(_encode_thought(piece))
            case ToolCall(id=call_id, name=name, arguments=arguments):
                call: ContentBlock = {"type": "function_call", "call_id": call_id, "name": name}
                items.append(call | {"arguments": valid_arguments(arguments)})
    return items


def _encode_thought(thought: Thought) -> ContentBlock:
    summary = [{"type": "summary_text", "text": thought.text}] if thought.text else []
    item: ContentBlock = {"type": "reasoning", "summary": summary, "encrypted_content": thought.signature}
    return item | ({"id": thought.id} if thought.id else {})


def _encode_part(part: Part) -> ContentBlock | None:
    """Write one part; None for words that are none."""
    if isinstance(part, ImagePart):
        return {"type": "input_image", "image_url": data_url_of(part), "detail": "auto"}
    text = text_of(part)
    return {"type": "input_text", "text": text} if text else None


class _Piece(Struct, frozen=True):
    """A piece of an item's content or summary."""

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


class _GrowingItem:
    """An item of which more may come."""

    def __init__(self, item: _Item) -> None:
        self.item = item
        self.words: list[str] = []
        self.arguments: list[str] = []
        self.summary_index = 0


class ResponseAssembly:
    """Puts one stream of events together."""

    def __init__(self, request: ModelRequest, link: EndpointClient) -> None:
        self._request = request
        self._link = link
        self._decoder = msgspec.json.Decoder(_Event)
        self._fragments = FragmentQueue()
        self._items: dict[int, _GrowingItem] = {}
        self._end: _Response | None = None
        self._was_refused = False

    def take(self, data: bytes) -> None:
        """Read one event; kinds not known are passed over, as the vendor may add some."""
        if data == b"[DONE]":
            return
        event = self._decoder.decode(data)
        match event.type:
            case "response.output_text.delta":
                self._say(event.output_index, event.delta)
            case "response.refusal.delta":
                self._was_refused = True
                self._say(event.output_index, event.delta)
            case "response.reasoning_summary_text.delta" | "response.reasoning_text.delta":
                self._think(event.output_index, event.summary_index, event.delta)
            case "response.function_call_arguments.delta":
                self._argue(event.output_index, event.delta)
            case "response.output_item.added":
                self._growing(event.output_index, event.item or _Item())
            case "response.output_item.done":
                self._complete(event.output_index, event.item or _Item())
            case "response.completed" | "response.incomplete":
                self._finish(event.response or _Response())
            case "response.failed":
                self._fail((event.response or _Response()).error or ErrorBody())
            case "error":
                self._fail(event.error or ErrorBody(message=event.message, code=event.code))
            case _:
                pass

    def drain(self) -> list[Fragment]:
        """Return what arrived since the last drain, neighbours of one kind joined."""
        return self._fragments.drain()

    def is_over(self) -> bool:
        """Say whether the end marker came."""
        return self._end is not None

    def is_whole(self) -> bool:
        """Say whether the end marker came; this vendor always sends it."""
        return self._end is not None

    def reply(self) -> ModelReply:
        """Make the reply. Raises BadReply for a call of no tool."""
        calls: list[ToolCall] = []
        thoughts: list[Thought] = []
        text: list[str] = []
        for index in sorted(self._items):
            growing = self._items[index]
            item, words = growing.item, "".join(growing.words)
            match item.type:
                case "message":
                    text.append(words)
                case "reasoning":
                    sealed = item.encrypted_content or ""
                    if words or sealed:
                        thoughts.append(Thought(words, sealed, _VENDOR, item.id or "", len(calls)))
                case "function_call":
                    arguments = "".join(growing.arguments) if item.arguments is None else item.arguments
                    calls.append(ToolCall(item.call_id or item.id or "", item.name or "", arguments))
                case _:
                    pass
        if any(not call.name for call in calls):
            raise BadReply(f"{self._link.place} sent a tool call without a name.", retryable=True)
        message = AssistantMessage("".join(text), tuple(thoughts), name_calls(calls, self._request))
        return ModelReply(message, self._finish_reason(bool(calls)), _read_usage(self._end))

    def _growing(self, index: int, item: _Item) -> _GrowingItem:
        return self._items.setdefault(index, _GrowingItem(item))

    def _say(self, index: int, text: str) -> None:
        self._growing(index, _Item("message")).words.append(text)
        self._fragments.add_text(text)

    def _think(self, index: int, part: int, text: str) -> None:
        growing = self._growing(index, _Item("reasoning"))
        if part > growing.summary_index:
            # Parts of a summary are paragraphs.
            growing.summary_index = part
            text = f"\n\n{text}"
        growing.words.append(text)
        self._fragments.add_thought(text)

    def _argue(self, index: int, arguments: str) -> None:
        growing = self._growing(index, _Item("function_call"))
        growing.arguments.append(arguments)
        identity = growing.item.call_id or growing.item.id or str(index)
        self._fragments.add_call(identity, growing.item.name or "", arguments)

    def _complete(self, index: int, item: _Item) -> None:
        """Take an item as it is in the end; only now its seal is whole."""
        growing = self._growing(index, item)
        growing.item = item
        if growing.words:
            return
        for piece in item.content or ():
            if words := piece.text or piece.refusal:
                self._was_refused = self._was_refused or not piece.text
                if item.type == "reasoning":
                    self._think(index, 0, words)
                else:
                    self._say(index, words)
        for place, piece in enumerate(item.summary or ()):
            self._think(index, place, piece.text or "")

    def _finish(self, response: _Response) -> None:
        if not self._items:
            # Some gateways send no item by itself.
            for index, item in enumerate(response.output or ()):
                self._complete(index, item)
        self._end = response

    def _fail(self, error: ErrorBody) -> None:
        raise self._link.trouble(read_error(0, error), self._request.model)

    def _finish_reason(self, has_calls: bool) -> FinishReason:
        details = self._end.incomplete_details if self._end is not None else None
        reason = details.reason if details is not None else None
        if self._was_refused or reason == "content_filter":
            return "refusal"
        if reason is not None and reason.startswith("max_"):
            return "length"
        return "tool_calls" if has_calls else "stop"


def _read_usage(response: _Response | None) -> Usage:
    usage = (response.usage if response is not None else None) or _Usage()
    details = usage.input_tokens_details or _InputDetails()
    return Usage(usage.input_tokens or 0, usage.output_tokens or 0, details.cached_tokens or 0)


class OpenAIResponses:
    """The leaf; also the wire of the connections it makes."""

    name = _VENDOR
    models_paths = ("/models",)
    passing = frozenset({"thoughts"})

    decoder = SseDecoder
    find_unsupported = staticmethod(find_unsupported)
    assembly = staticmethod(ResponseAssembly)
    read_models = staticmethod(read_listing)

    def connect(self, endpoint: Endpoint) -> WireConnection:
        """Bind to an endpoint; without a base URL, to OpenAI itself."""
        return WireConnection(self, endpoint.or_own(_BASE_URL, "OPENAI_API_KEY"))

    def headers(self, key: str) -> dict[str, str]:
        """Carry the key as a bearer token, where there is one."""
        return bearer(key)

    def chat_path(self, model: str) -> str:
        """Return the one path there is."""
        return "/responses"

    def encode(self, request: ModelRequest, link: EndpointClient, omitted: frozenset[str]) -> bytes:
        """Write the body of a step."""
        return encode_request(request, omitted, link.endpoint.name or _VENDOR)


PROVIDER = OpenAIResponses()
