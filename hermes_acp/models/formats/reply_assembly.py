"""Assemble a reply from a stream of events, for any vendor.

A vendor's class derives from `ReplyAssembly`: it reads the events, fills the blocks, and records the stop reason and
the usage. The base class decides what counts as a complete reply.
"""

import re
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Sequence
from typing import ClassVar, Final, Literal, NoReturn

from msgspec import Struct

from hermes_acp.core.errors import BadReply
from hermes_acp.core.messages import (
    AssistantMessage,
    CallFragment,
    FinishReason,
    Fragment,
    ModelReply,
    ModelRequest,
    TextFragment,
    Thought,
    ThoughtFragment,
    ToolCall,
    Usage,
)
from hermes_acp.models.wire.endpoint_client import EndpointClient
from hermes_acp.models.wire.endpoint_errors import ErrorBody, read_error


class _Run(Struct, frozen=True):
    """The key that consecutive fragments must share to be joined."""

    kind: Literal["text", "thought", "call"]
    key: str = ""
    name: str = ""


_TEXT: Final = _Run("text")
_THOUGHT: Final = _Run("thought")


class FragmentQueue:
    """Joins deltas until they are drained, so that many deltas in one read become one fragment."""

    def __init__(self) -> None:
        self._runs: list[tuple[_Run, list[str]]] = []

    def add_text(self, text: str) -> None:
        """Add text that belongs to the answer."""
        self._add(_TEXT, text)

    def add_thought(self, text: str) -> None:
        """Add text that belongs to the reasoning."""
        self._add(_THOUGHT, text)

    def add_call(self, key: str, name: str, arguments: str) -> None:
        """Add part of a call's arguments; `key` identifies the call."""
        self._add(_Run("call", key, name), arguments)

    def drain(self) -> list[Fragment]:
        """Return everything added since the last drain, in order."""
        runs, self._runs = self._runs, []
        return [_fragment(run, "".join(parts)) for run, parts in runs]

    def _add(self, run: _Run, text: str) -> None:
        if self._runs and self._runs[-1][0] == run:
            self._runs[-1][1].append(text)
        else:
            self._runs.append((run, [text]))


def _fragment(run: _Run, text: str) -> Fragment:
    match run.kind:
        case "text":
            return TextFragment(text)
        case "thought":
            return ThoughtFragment(text)
        case "call":
            return CallFragment(run.key, run.name, text)


class ReplyBlock:
    """A growing block of a reply: text, reasoning or one call.

    `whole_arguments` is used if no arguments were streamed. `signature` belongs to the call or, without one, to the
    reasoning.
    """

    def __init__(self) -> None:
        self.text: list[str] = []
        self.thoughts: list[str] = []
        self.arguments: list[str] = []
        self.whole_arguments = ""
        self.id = ""
        self.name = ""
        self.signature = ""
        self.is_call = False

    def open_call(self, call_id: str, name: str) -> None:
        """Turn this block into the block of a call."""
        self.is_call, self.id, self.name = True, call_id, name


class StopReasons(Struct, frozen=True):
    """Regular expressions for a vendor's stop reasons; any other reason counts as a normal end."""

    length: str
    refusal: str
    malformed: str = "(?!)"


class ReplyAssembly(ABC):
    """The base class for assembling one stream of a vendor.

    `vendor` marks reasoning that only this vendor understands.
    """

    vendor: ClassVar[str] = ""
    stop_reasons: ClassVar[StopReasons]

    def __init__(self, request: ModelRequest, link: EndpointClient) -> None:
        self.blocks: defaultdict[int, ReplyBlock] = defaultdict(ReplyBlock)
        self.usage = Usage()
        self.stop_reason: str | None = None
        self.was_refused = False
        self.has_ended = False
        self._request = request
        self._link = link
        self._fragments = FragmentQueue()

    @abstractmethod
    def take(self, data: bytes) -> None:
        """Process one event.

        Raises ModelError for an error that it reports, and msgspec.DecodeError for an invalid event.
        """

    def drain(self) -> list[Fragment]:
        """Return what has arrived since the last drain, with consecutive fragments of the same kind joined."""
        return self._fragments.drain()

    def is_over(self) -> bool:
        """Return whether the end marker has arrived."""
        return self.has_ended

    def is_whole(self) -> bool:
        """Return whether what has arrived would be a complete reply if the stream ended here."""
        return self.has_ended or self.stop_reason is not None

    def reply(self) -> ModelReply:
        """Return the reply. Raises BadReply for a call that names no tool or that the vendor could not parse."""
        if self._has_stopped(self.stop_reasons.malformed):
            raise BadReply(
                f"The model at {self._link.place} wrote a tool call that cannot be read.", retryable=True
            )
        text: list[str] = []
        thoughts: list[Thought] = []
        calls: list[ToolCall] = []
        for _, block in sorted(self.blocks.items()):
            text += block.text
            thought = "".join(block.thoughts)
            if block.is_call:
                arguments = "".join(block.arguments) or block.whole_arguments
                calls.append(ToolCall(block.id, block.name, arguments, block.signature))
            elif thought or block.signature:
                thoughts.append(Thought(thought, block.signature, self.vendor, block.id, len(calls)))
        if any(not call.name for call in calls):
            raise BadReply(f"{self._link.place} sent a tool call without a name.", retryable=True)
        message = AssistantMessage("".join(text), tuple(thoughts), name_calls(calls, self._request))
        return ModelReply(message, self._finish_reason(bool(calls)), self.usage)

    def add_text(self, index: int, text: str) -> None:
        """Add answer text to a block."""
        if text:
            self.blocks[index].text.append(text)
            self._fragments.add_text(text)

    def add_thought(self, index: int, text: str) -> None:
        """Add reasoning text to a block."""
        if text:
            self.blocks[index].thoughts.append(text)
            self._fragments.add_thought(text)

    def add_arguments(self, index: int, arguments: str) -> None:
        """Add part of a call's arguments to its block; ignored if the block is not a call."""
        block = self.blocks[index]
        if arguments and block.is_call:
            block.arguments.append(arguments)
            self._fragments.add_call(block.id or str(index), block.name, arguments)

    def fail(self, error: ErrorBody) -> NoReturn:
        """Raise the ModelError for an error reported inside the stream."""
        raise self._link.error_for(read_error(0, error), self._request.model)

    def _has_stopped(self, pattern: str) -> bool:
        return re.fullmatch(pattern, self.stop_reason or "") is not None

    def _finish_reason(self, has_calls: bool) -> FinishReason:
        if self.was_refused or self._has_stopped(self.stop_reasons.refusal):
            return "refusal"
        if self._has_stopped(self.stop_reasons.length):
            return "length"
        return "tool_calls" if has_calls else "stop"


def name_calls(calls: Sequence[ToolCall], request: ModelRequest) -> tuple[ToolCall, ...]:
    """Return the calls, each with a unique ID and with arguments that are never empty (`{}` at least).

    Some servers send no ID, repeat an ID within a reply, or reuse IDs in every step, yet a result is matched to its
    call by ID alone. IDs that are unique in the history are kept; others become `call_` followed by the call's number.
    """
    if not calls:
        return ()
    taken = {
        call.id
        for message in request.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    }
    named: list[ToolCall] = []
    for call in calls:
        identity, number = call.id, len(taken)
        while not identity or identity in taken:
            number += 1
            identity = f"call_{number}"
        taken.add(identity)
        arguments = call.arguments if call.arguments.strip() else "{}"
        named.append(ToolCall(identity, call.name, arguments, call.signature))
    return tuple(named)
