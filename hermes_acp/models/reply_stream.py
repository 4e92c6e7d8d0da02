"""From a stream of bytes to fragments and one whole reply, whatever the vendor.

Knows: the course of a stream, joining fragments, naming calls. Does not know: HTTP, any vendor's format.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from typing import Final, Literal, Protocol

import anyio
import msgspec
from msgspec import Struct, structs

from hermes_acp.core.errors import BadReply, ModelError, ModelUnavailable
from hermes_acp.core.messages import (
    AssistantMessage,
    CallFragment,
    Fragment,
    ModelEvent,
    ModelReply,
    ModelRequest,
    TextFragment,
    ThoughtFragment,
    ToolCall,
    Usage,
)
from hermes_acp.core.ports.model_ports import Provider
from hermes_acp.models.response_timeouts import IdleTimer

MALFORMED: Final = "malformed_arguments"
MALFORMED_CHARACTERS: Final = 2_000
MAX_TOKENS: Final = 2**40
"""More than any step has; what an endpoint counts beyond it is nonsense."""
_TRAILER_TIMEOUT_S = 0.1


class StreamDecoder(Protocol):
    """The framing of a stream."""

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """Take the next bytes; give the events they complete, by name and data. Raises BadReply."""
        ...


class ReplyAssembler(Protocol):
    """One vendor's reading of one stream."""

    def take(self, data: bytes) -> None:
        """Read one event. Raises ModelError it reports, msgspec.DecodeError where it is no such event."""
        ...

    def drain(self) -> list[Fragment]:
        """Return what arrived since the last drain, neighbours of one kind joined."""
        ...

    def is_over(self) -> bool:
        """Say whether the end marker came."""
        ...

    def is_whole(self) -> bool:
        """Say whether enough came to make a reply of it, should the stream end here."""
        ...

    def reply(self) -> ModelReply:
        """Make the reply."""
        ...


class FragmentQueue:
    """Joins deltas until they are taken: many in one read cost one fragment."""

    def __init__(self) -> None:
        self._runs: list[tuple[_Run, list[str]]] = []

    def add_text(self, text: str) -> None:
        """Take some words of the answer."""
        self._add(_TEXT, text)

    def add_thought(self, text: str) -> None:
        """Take some words of the reasoning."""
        self._add(_THOUGHT, text)

    def add_call(self, key: str, name: str, arguments: str) -> None:
        """Take some characters of a call's arguments."""
        self._add(_Run("call", key, name), arguments)

    def drain(self) -> list[Fragment]:
        """Return all that was taken since, in order."""
        runs, self._runs = self._runs, []
        return [_fragment(run, "".join(parts)) for run, parts in runs]

    def _add(self, run: "_Run", text: str) -> None:
        if self._runs and self._runs[-1][0] == run:
            self._runs[-1][1].append(text)
        else:
            self._runs.append((run, [text]))


class _Run(Struct, frozen=True):
    """What neighbours have in common that are joined."""

    kind: Literal["text", "thought", "call"]
    key: str = ""
    name: str = ""


_TEXT: Final = _Run("text")
_THOUGHT: Final = _Run("thought")


def _fragment(run: _Run, text: str) -> Fragment:
    match run.kind:
        case "text":
            return TextFragment(text)
        case "thought":
            return ThoughtFragment(text)
        case "call":
            return CallFragment(run.key, run.name, text)


async def read_reply(
    chunks: AsyncIterator[bytes],
    assembly: ReplyAssembler,
    place: str,
    decoder: StreamDecoder,
    idle_timer: IdleTimer,
) -> AsyncGenerator[ModelEvent]:
    """Yield fragments read by read, then the reply. `place` names the endpoint in errors; `idle_timer` learns of words.

    Raises BadReply for what is not the vendor's format and ModelUnavailable for a stream that ends before its end.
    """
    async for chunk in chunks:
        # What came before a fault in the same read is still shown, then the fault is raised.
        fault: ModelError | None = None
        try:
            for _, data in decoder.feed(chunk):
                assembly.take(data)
        except ModelError as error:
            fault = error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            fault = BadReply(f"{place} sent an event that is not its own format: {error}.", retryable=True)
        for fragment in assembly.drain():
            idle_timer.has_started = True
            yield fragment
        if fault is not None:
            raise fault
        if assembly.is_over():
            await _read_trailer(chunks)
            break
    if not assembly.is_whole():
        raise ModelUnavailable(f"The answer from {place} broke off before its end.", retryable=True)
    reply = assembly.reply()
    yield structs.replace(reply, usage=valid_usage(reply.usage))


async def ask_once(provider: Provider, request: ModelRequest) -> ModelReply:
    """Put a request whose answer nobody watches, and give it whole. Raises ModelError."""
    reply: ModelReply | None = None
    async with provider.stream(request) as events:
        async for event in events:
            if isinstance(event, ModelReply):
                reply = event
    if reply is None:
        raise BadReply("The model's answer ended without an end.", retryable=True)
    return reply


def valid_usage(usage: Usage) -> Usage:
    """Return counts that can be true: no endpoint gives tokens back, or has more in its cache than it was sent."""
    sent, said = (min(max(count, 0), MAX_TOKENS) for count in (usage.input_tokens, usage.output_tokens))
    return Usage(sent, said, min(max(usage.cached_tokens, 0), sent))


async def _read_trailer(chunks: AsyncIterator[bytes]) -> None:
    """Read what follows the end marker: only a response read to its end leaves a connection to use again."""
    with anyio.move_on_after(_TRAILER_TIMEOUT_S):
        async for _ in chunks:
            pass


def name_calls(calls: Sequence[ToolCall], request: ModelRequest) -> tuple[ToolCall, ...]:
    """Return every call an id of its own and arguments that are at least `{}`.

    Some servers send no id, one id twice in a reply, or the same ids in every step; a result finds its call
    by the id alone. Ids unique in the history stay as they are; others become `call_` and the call's number.
    """
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


def object_of(arguments: str) -> dict[str, object]:
    """Read a call's arguments; what is no object is shown inside one, as endpoints refuse a history with less."""
    try:
        return msgspec.json.decode(arguments or "{}", type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        return {MALFORMED: arguments[:MALFORMED_CHARACTERS]}


def valid_arguments(arguments: str) -> str:
    """Return a call's arguments as written where they are an object, else as `object_of` has them."""
    plain = object_of(arguments)
    return msgspec.json.encode(plain).decode() if MALFORMED in plain else arguments or "{}"
