"""The wire format of OpenAI's Chat Completions API, and of the many servers that implement it with deviations.

Source: OpenAI API reference, "Chat completions" and "Streaming events".
"""

import re
from collections.abc import Callable
from hashlib import sha256

import msgspec
from msgspec import Struct

from hermes_acp.config.provider_presets import Quirks
from hermes_acp.core.messages import (
    AssistantMessage,
    Effort,
    ImagePart,
    Message,
    ModelRequest,
    Part,
    TextPart,
    ToolMessage,
    Usage,
    UserMessage,
)
from hermes_acp.models.formats.block_encoder import ContentBlock, to_json
from hermes_acp.models.formats.message_parts import (
    ATTACHED,
    data_url_of,
    text_of,
    valid_arguments,
)
from hermes_acp.models.formats.reply_assembly import ReplyAssembly, StopReasons
from hermes_acp.models.formats.wire_format import WireFormat
from hermes_acp.models.model_catalog import level_of
from hermes_acp.models.wire.endpoint_client import EndpointClient
from hermes_acp.models.wire.endpoint_errors import EndpointRefusal, ErrorBody

_SAID = -1
"""The index of the block for text and reasoning; calls are numbered from 0."""
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


def encode_request(
    request: ModelRequest, host: str, omitted: frozenset[str], quirks: Quirks | None = None, name: str = ""
) -> bytes:
    """Encode the body for `host`, with its preset's quirks and without `omitted` fields; `name` is the preset's."""
    quirks = quirks or Quirks()
    system = "\n\n".join(layer for layer in request.system if layer)
    messages: list[ContentBlock | msgspec.Raw] = [{"role": "system", "content": system}] if system else []
    thoughts = "" if host == _OWN_HOST or quirks.thoughts in omitted else quirks.thoughts
    history = request.encoding.of(
        request.messages, ("chat", thoughts, quirks.call_ids), lambda: _ChatHistory(thoughts, quirks.call_ids)
    )
    messages += history.messages()
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
    """Return the fields that tell the endpoint how much to reason."""
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


class _ChatHistory:
    """A history in which results are text only: any other parts of them follow after the step."""

    def __init__(self, thoughts: str, call_ids: str) -> None:
        self._thoughts = thoughts
        self._sent_id = _short_id if call_ids == "short" else str
        self._messages: list[msgspec.Raw] = []
        self._held: list[Part] = []

    def add(self, message: Message) -> None:
        if isinstance(message, ToolMessage):
            self._held += message.parts
            self._messages.append(
                to_json(
                    {"role": "tool", "tool_call_id": self._sent_id(message.call_id), "content": message.text}
                )
            )
            return
        self._messages += self._attached()
        self._held = []
        if isinstance(message, UserMessage):
            self._messages.append(to_json({"role": "user", "content": _encode_parts(message.parts)}))
        else:
            self._messages += map(to_json, _encode_assistant(message, self._thoughts, self._sent_id))

    def messages(self) -> list[msgspec.Raw]:
        return self._messages + self._attached()

    def _attached(self) -> list[msgspec.Raw]:
        parts = (TextPart(ATTACHED), *self._held)
        return [to_json({"role": "user", "content": _encode_parts(parts)})] if self._held else []


def _short_id(call_id: str) -> str:
    """Return an ID of nine letters and digits; an ID in that form stays unchanged, and equal IDs stay equal."""
    if len(call_id) == 9 and call_id.isascii() and call_id.isalnum():
        return call_id
    return sha256(call_id.encode()).hexdigest()[:9]


def _encode_assistant(
    message: AssistantMessage, thoughts: str, sent_id: Callable[[str], str]
) -> list[ContentBlock]:
    """Encode one answer; `thoughts` names the field for its reasoning, or is empty if reasoning is not sent back."""
    if not message.text and not message.tool_calls:
        return []
    reasoning = (
        "".join(thought.text for thought in message.thoughts if not thought.signature) if thoughts else ""
    )
    encoded: ContentBlock = {"role": "assistant", "content": message.text or None}
    if message.tool_calls:
        encoded["tool_calls"] = [
            {
                "id": sent_id(call.id),
                "type": "function",
                "function": {"name": call.name, "arguments": valid_arguments(call.arguments)},
            }
            for call in message.tool_calls
        ]
        # Some vendors' reasoning models refuse their own calls without the reasoning that led to them.
        if reasoning and thoughts not in ("content", "blocks"):
            encoded[thoughts] = reasoning
    if reasoning and thoughts == "content":
        encoded["content"] = f"<think>\n{reasoning}\n</think>\n\n{message.text}"
    if reasoning and thoughts == "blocks":
        said = [{"type": "text", "text": message.text}] if message.text else []
        thought = {"type": "thinking", "thinking": [{"type": "text", "text": reasoning}]}
        encoded["content"] = [thought, *said]
    return [encoded]


def _encode_parts(parts: tuple[Part, ...]) -> str | list[ContentBlock]:
    """Encode parts, as plain text if there are no images, because many servers accept nothing else."""
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


class _ThoughtBlock(Struct, frozen=True):
    text: str | None = None


class _Block(Struct, frozen=True):
    text: str | None = None
    thinking: list[_ThoughtBlock] | None = None


class _Delta(Struct, frozen=True):
    content: str | list[_Block] | None = None
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


class ChatAssembly(ReplyAssembly):
    """Assembles one stream of chunks; some servers send no end marker, others no finish reason."""

    stop_reasons = StopReasons(length="length", refusal="content_filter")
    _decoder = msgspec.json.Decoder(_Chunk)

    def __init__(self, request: ModelRequest, link: EndpointClient) -> None:
        super().__init__(request, link)
        self._call_indexes: list[int | None] = []

    def take(self, data: bytes) -> None:
        """Process one chunk or the end marker."""
        if data == b"[DONE]":
            self.has_ended = True
            return
        chunk = self._decoder.decode(data)
        if chunk.error is not None:
            self.fail(chunk.error if isinstance(chunk.error, ErrorBody) else ErrorBody(message=chunk.error))
        if chunk.usage is not None:
            self.usage = _read_usage(chunk.usage)
        for choice in chunk.choices or ():
            self.stop_reason = choice.finish_reason or self.stop_reason
            if choice.delta is not None:
                self._take_delta(choice.delta)

    def _take_delta(self, delta: _Delta) -> None:
        self.add_thought(_SAID, delta.reasoning_content or delta.reasoning or "")
        if isinstance(delta.content, list):
            self._take_blocks(delta.content)
        else:
            self.add_text(_SAID, delta.content or delta.refusal or "")
        self.was_refused = self.was_refused or bool(delta.refusal and not delta.content)
        for call in delta.tool_calls or ():
            self._take_call(call)
        if delta.function_call is not None:
            self._take_call(_CallDelta(0, None, delta.function_call))

    def _take_blocks(self, blocks: list[_Block]) -> None:
        for block in blocks:
            for thought in block.thinking or ():
                self.add_thought(_SAID, thought.text or "")
            self.add_text(_SAID, block.text or "")

    def _take_call(self, delta: _CallDelta) -> None:
        function = delta.function or _FunctionDelta()
        index = self._find_call(delta, function.name or "")
        block = self.blocks[index]
        block.open_call(block.id or delta.id or "", block.name or function.name or "")
        arguments = function.arguments or ""
        if isinstance(arguments, dict):
            arguments = msgspec.json.encode(arguments).decode()
        self.add_arguments(index, arguments)

    def _find_call(self, delta: _CallDelta, name: str) -> int:
        """Return the call to which a delta belongs: by index, or else by ID, or else the latest one.

        A delta with a name and an ID different from that of the call found starts a new call: some servers send index 0
        for every call.
        """
        found: int | None = None
        latest_first = reversed(range(len(self._call_indexes)))
        if delta.index is not None:
            found = next((call for call in latest_first if self._call_indexes[call] == delta.index), None)
        elif delta.id:
            found = next((call for call in latest_first if self.blocks[call].id == delta.id), None)
        elif not name:
            found = next(latest_first, None)
        identity = self.blocks[found].id if found is not None else ""
        if found is not None and not (name and delta.id and identity and delta.id != identity):
            return found
        self._call_indexes.append(delta.index)
        return len(self._call_indexes) - 1


def _read_usage(usage: _Usage) -> Usage:
    details = usage.prompt_tokens_details or _PromptDetails()
    cached = details.cached_tokens or usage.prompt_cache_hit_tokens or 0
    return Usage(usage.prompt_tokens or 0, usage.completion_tokens or 0, cached)


class OpenAICompatible(WireFormat):
    """The plugin for OpenAI's Chat Completions API."""

    name = "openai_compatible"
    base_url = "https://api.openai.com/v1"
    key_variable = "OPENAI_API_KEY"
    path = "/chat/completions"
    refusal_statuses = (400, 422)
    assembly = ChatAssembly

    def encode(self, request: ModelRequest, link: EndpointClient, omitted: frozenset[str]) -> bytes:
        """Encode the body of a request, with its endpoint's deviations."""
        endpoint = link.endpoint
        return encode_request(request, link.host, omitted, endpoint.quirks, endpoint.name)

    def find_unsupported(self, refusal: EndpointRefusal, body: bytes, omitted: frozenset[str]) -> str | None:
        """Return the optional field that a server refused.

        `reasoning_effort` works the other way round: at some endpoints, models that reason accept no tools unless it is
        sent as `none`. A server that does not know the field at all refuses `effort`.
        """
        if refusal.status not in self.refusal_statuses:
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


PROVIDER = OpenAICompatible()
