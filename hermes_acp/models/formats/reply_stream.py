"""Convert a byte stream to fragments and one complete reply, for any vendor."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Final, Protocol

import anyio
import msgspec
from msgspec import structs

from hermes_acp.core.errors import BadReply, ModelError, ModelUnavailable
from hermes_acp.core.messages import ModelEvent, ModelReply, ModelRequest, Usage
from hermes_acp.core.ports.model_ports import Provider
from hermes_acp.models.formats.reply_assembly import ReplyAssembly
from hermes_acp.models.wire.response_timeouts import IdleTimer

MAX_TOKENS: Final = 2**40
"""More tokens than any step uses; a larger count is an endpoint's mistake."""
_TRAILER_TIMEOUT_S = 0.1


class StreamDecoder(Protocol):
    """Decodes the framing of one stream."""

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """Add bytes; return the events that they complete, as pairs of name and data. Raises BadReply."""
        ...


async def read_reply(
    chunks: AsyncIterator[bytes],
    assembly: ReplyAssembly,
    place: str,
    decoder: StreamDecoder,
    idle_timer: IdleTimer,
) -> AsyncGenerator[ModelEvent]:
    """Yield fragments as they are read, then the reply. `place` names the endpoint in error messages.

    Raises BadReply for data that is not in the vendor's format, and ModelUnavailable for a stream that ends early.
    """
    async for chunk in chunks:
        # Fragments that precede an error in the same read are shown before the error is raised.
        fault: ModelError | None = None
        try:
            for _, data in decoder.feed(chunk):
                assembly.take(data)
        except ModelError as error:
            fault = error
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            fault = BadReply(f"{place} sent an event in an unknown format: {error}.", retryable=True)
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
    """Send a request and return its complete reply, for when nobody watches the stream. Raises ModelError."""
    reply: ModelReply | None = None
    async with provider.stream(request) as events:
        async for event in events:
            if isinstance(event, ModelReply):
                reply = event
    if reply is None:
        raise BadReply("The model's answer ended without an end marker.", retryable=True)
    return reply


def valid_usage(usage: Usage) -> Usage:
    """Correct implausible counts: none may be negative, and no more tokens can be cached than were sent."""
    sent, said = (min(max(count, 0), MAX_TOKENS) for count in (usage.input_tokens, usage.output_tokens))
    return Usage(sent, said, min(max(usage.cached_tokens, 0), sent))


async def _read_trailer(chunks: AsyncIterator[bytes]) -> None:
    """Read whatever follows the end marker: a connection is reusable only if its response was read to the end."""
    with anyio.move_on_after(_TRAILER_TIMEOUT_S):
        async for _ in chunks:
            pass
