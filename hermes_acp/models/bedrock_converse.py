"""The events of Amazon Bedrock's Converse, put together.

Knows: events, exceptions among them, what ends an answer. Does not know: frames (`models.event_stream`), requests.
Source: Amazon Bedrock API reference, "ConverseStreamOutput".
"""

import re

import msgspec
from msgspec import Struct, structs

from hermes_acp.core.errors import BadReply
from hermes_acp.core.messages import (
    AssistantMessage,
    FinishReason,
    Fragment,
    ModelReply,
    ModelRequest,
    Thought,
    ToolCall,
    Usage,
)
from hermes_acp.models.endpoint_client import EndpointClient
from hermes_acp.models.endpoint_errors import ErrorBody, read_error
from hermes_acp.models.reply_stream import FragmentQueue, name_calls

VENDOR = "bedrock"
REDACTED = "redacted:"
_EXCEPTION = re.compile(r"\w+Exception|error")


class _ToolUse(Struct, frozen=True, rename="camel"):
    tool_use_id: str = ""
    name: str = ""
    input: str = ""


class _Reasoning(Struct, frozen=True, rename="camel"):
    text: str = ""
    signature: str = ""
    redacted_content: str = ""


class _Piece(Struct, frozen=True, rename="camel"):
    """The start of a block, or a piece of it."""

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


class _GrowingBlock:
    """A block of which more may come."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.arguments: list[str] = []
        self.thoughts: list[str] = []
        self.signature = ""
        self.use: _ToolUse | None = None


class ConverseAssembly:
    """Puts one stream of events together."""

    def __init__(self, request: ModelRequest, link: EndpointClient) -> None:
        self._request = request
        self._link = link
        self._decoder = msgspec.json.Decoder(_Event)
        self._fragments = FragmentQueue()
        self._blocks: dict[int, _GrowingBlock] = {}
        self._usage: _Usage | None = None
        self._stop_reason: str | None = None

    def take(self, data: bytes) -> None:
        """Read one event, the only field of an object; kinds not known are passed over."""
        event = self._decoder.decode(data)
        if event.content_block_start is not None:
            start = event.content_block_start
            self._block(start).use = start.start.tool_use if start.start is not None else None
        elif event.content_block_delta is not None:
            self._take_delta(event.content_block_delta)
        elif event.message_stop is not None:
            self._stop_reason = event.message_stop.stop_reason
        elif event.metadata is not None:
            self._usage = event.metadata.usage
        else:
            self._take_exception(data)

    def drain(self) -> list[Fragment]:
        """Return what arrived since the last drain, neighbours of one kind joined."""
        return self._fragments.drain()

    def is_over(self) -> bool:
        """Say whether the last event came, which tells the usage."""
        return self._stop_reason is not None and self._usage is not None

    def is_whole(self) -> bool:
        """Say whether the message was ended."""
        return self._stop_reason is not None

    def reply(self) -> ModelReply:
        """Make the reply. Raises BadReply for a call that the vendor itself could not read."""
        if (self._stop_reason or "").startswith("malformed_"):
            raise BadReply(f"The model at {self._link.place} wrote a tool call that is none.", retryable=True)
        calls: list[ToolCall] = []
        thoughts: list[Thought] = []
        text: list[str] = []
        for index in sorted(self._blocks):
            block = self._blocks[index]
            if block.use is not None:
                calls.append(ToolCall(block.use.tool_use_id, block.use.name, "".join(block.arguments)))
            if block.thoughts or block.signature:
                thought = "".join(block.thoughts)
                thoughts.append(Thought(thought, block.signature, VENDOR, after_calls=len(calls)))
            text += block.words
        message = AssistantMessage("".join(text), tuple(thoughts), name_calls(calls, self._request))
        return ModelReply(message, self._finish_reason(bool(calls)), self._total_usage())

    def _block(self, event: _BlockEvent) -> _GrowingBlock:
        return self._blocks.setdefault(event.content_block_index, _GrowingBlock())

    def _take_delta(self, event: _BlockEvent) -> None:
        block, delta = self._block(event), event.delta or _Piece()
        if delta.text:
            block.words.append(delta.text)
            self._fragments.add_text(delta.text)
        if delta.tool_use is not None:
            block.arguments.append(delta.tool_use.input)
            if block.use is not None:
                self._fragments.add_call(block.use.tool_use_id, block.use.name, delta.tool_use.input)
        if (reasoning := delta.reasoning_content) is not None:
            if reasoning.text:
                block.thoughts.append(reasoning.text)
                self._fragments.add_thought(reasoning.text)
            redacted = REDACTED + reasoning.redacted_content if reasoning.redacted_content else ""
            block.signature += reasoning.signature or redacted

    def _take_exception(self, data: bytes) -> None:
        """Raise what went wrong, if this is what an event tells."""
        for kind, error in msgspec.json.decode(data, type=dict[str, msgspec.Raw]).items():
            if _EXCEPTION.fullmatch(kind):
                body = msgspec.json.decode(error, type=ErrorBody)
                raise self._link.trouble(read_error(0, structs.replace(body, type=kind)), self._request.model)

    def _total_usage(self) -> Usage:
        usage = self._usage or _Usage()
        cached = usage.cache_read_input_tokens or 0
        sent = usage.input_tokens + cached + (usage.cache_write_input_tokens or 0)
        return Usage(sent, usage.output_tokens, cached)

    def _finish_reason(self, has_calls: bool) -> FinishReason:
        match self._stop_reason:
            case "max_tokens" | "model_context_window_exceeded":
                return "length"
            case "guardrail_intervened" | "content_filtered" | "refusal":
                return "refusal"
            case _:
                return "tool_calls" if has_calls else "stop"
