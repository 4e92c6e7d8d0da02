"""A JSON-RPC peer, which reads in order, answers in any order, and writes through one coalescing writer.

Unexpected exceptions are turned into error replies here. Source: JSON-RPC 2.0; `$/cancel_request` of the Agent
Client Protocol.
"""

import os
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar

import anyio
import anyio.abc
import anyio.lowlevel
import msgspec
from msgspec import Raw, Struct

from hermes_protocol import envelope
from hermes_protocol.envelope import ErrorObject, Malformed, Notification, Reply, Request, RequestId
from hermes_protocol.errors import (
    CANCELLED,
    INTERNAL_ERROR,
    INVALID_REQUEST,
    PARSE_ERROR,
    PeerError,
    PeerGone,
)
from hermes_protocol.framing import (
    DEFAULT_MAX_FRAME_BYTES,
    BadHeader,
    Frame,
    FramingName,
    TooLong,
    add_length,
    open_reader,
)
from hermes_protocol.transport import Transport
from hermes_protocol.writer import Writer

T = TypeVar("T")
CANCEL_REQUEST: Final = "$/cancel_request"


class Limits(Struct, frozen=True):
    """The limits of one connection.

    Streams should pause above `high_water_bytes` of unsent output until `low_water_bytes` are left. Reading pauses only
    above `stop_reading_bytes`, because a cancellation must get through while the output is blocked.

    That pause bounds memory, but two peers that both stop reading with more than `stop_reading_bytes` unsent would
    deadlock. This requires that backlog in both directions at once and a peer that does not read while it writes:
    streams stop at 1/64 of it, and a peer that keeps reading while its output is blocked, as every event loop does,
    always lets the other continue. If reading were unbounded, a peer that never reads could fill the memory with
    answers.
    """

    max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES
    in_flight: int = 1024
    high_water_bytes: int = 1 << 20
    low_water_bytes: int = 1 << 18
    stop_reading_bytes: int = 1 << 26
    flush_s: float = 1.0


class IncomingRequest:
    """A call from the other side while it is being served."""

    def __init__(self, request: Request) -> None:
        self.id = request.id
        self.method = request.method
        self.params = request.params
        self.scope = anyio.CancelScope()


class Handler(Protocol):
    """The interface of the code that serves a connection."""

    async def request(self, call: IncomingRequest) -> object:
        """Serve a call in its own task; return a value that msgspec can encode, or raise PeerError."""
        ...

    def notification(self, method: str, params: Raw) -> Awaitable[None] | None:
        """Handle a notification, in reading order; reading waits for a returned awaitable."""
        ...


class _CancelParams(Struct, rename="camel"):
    request_id: RequestId


class _OutgoingCall:
    def __init__(self) -> None:
        self.done = anyio.Event()
        self.outcome: Raw | ErrorObject | None = None


class Connection:
    """One peer over one transport."""

    def __init__(
        self,
        transport: Transport,
        handler: Handler,
        *,
        on_bug: Callable[[BaseException, str], None],
        limits: Limits | None = None,
        pending: bytes = b"",
        framing: FramingName = "lines",
    ) -> None:
        """Initialise the connection; nothing is read before `run`.

        `on_bug` receives every unexpected exception from the handler, with the trace ID sent to the other
        side. `pending` holds bytes that were read from the wire before this connection took over.
        """
        self._transport = transport
        self._handler = handler
        self._on_bug = on_bug
        self._limits = limits or Limits()
        self._pending = pending
        self._reader = open_reader(framing, self._limits.max_frame_bytes)
        self._has_headers = framing == "content-length"
        self._running: dict[RequestId, IncomingRequest] = {}
        self._calls: dict[RequestId, _OutgoingCall] = {}
        self._last_call_id = 0
        self._unbegun = 0
        self._settled: anyio.Event | None = None
        self._writer = Writer(
            transport,
            high_water_bytes=self._limits.high_water_bytes,
            low_water_bytes=self._limits.low_water_bytes,
        )
        self._reading = anyio.CancelScope()
        self._group: anyio.abc.TaskGroup | None = None
        self.is_open = True
        """Whether a call could still be answered, because the peer is connected and the connection is not closing."""
        self._finished: anyio.Event | None = None

    async def run(self) -> None:
        """Serve until end of input, `close_soon` or the loss of the peer; then close the transport.

        At the end, every running request is cancelled and answered, every call of ours fails with PeerGone,
        and queued output is flushed within the limit. Call this once.
        """
        self._finished = anyio.Event()
        try:
            async with anyio.create_task_group() as group:
                self._group = group
                group.start_soon(self._write)
                with self._reading:
                    await self._read()
                await self._wind_down()
                group.cancel_scope.cancel()
        finally:
            self.is_open = False
            self._lose_peer()
            with anyio.CancelScope(shield=True):
                await self._transport.aclose()
            self._finished.set()

    async def request(
        self, method: str, params: object, result_type: type[T], *, timeout_s: float | None = None
    ) -> T:
        """Call the other side and wait for its result.

        Raises PeerError for an error reply or an invalid result, PeerGone if no reply can arrive, or TimeoutError. A
        call abandoned by timeout or cancellation is also cancelled on the other side.
        """
        if not self.is_open:
            raise PeerGone(f"{method} was not sent: the connection is closed")
        self._last_call_id += 1
        call_id = self._last_call_id
        frame = envelope.encode_request(call_id, method, params)
        call = _OutgoingCall()
        self._calls[call_id] = call
        try:
            self._enqueue(frame)
            with anyio.fail_after(timeout_s):
                await call.done.wait()
        finally:
            if self._calls.pop(call_id, None) is not None:
                self.notify(CANCEL_REQUEST, {"requestId": call_id})
        return _unpack(method, call.outcome, result_type)

    def notify(self, method: str, params: object, *, frame: bytes = b"") -> None:
        """Queue a notification; never blocks. `frame` is its encoding, if already known.

        It is dropped if the peer is gone. Streams must also await `drained`.
        """
        if not self._writer.is_lost:
            self._enqueue(frame or envelope.encode_notification(method, params))

    async def drained(self) -> None:
        """Return at once below the high-water mark, otherwise once the output is down to the low-water mark."""
        await self._writer.drained()

    def close_soon(self) -> None:
        """Stop reading, so that `run` ends as at the end of input."""
        self._reading.cancel()

    async def aclose(self) -> None:
        """Close and wait until `run` has ended; if it never started, just close the transport."""
        self.close_soon()
        if self._finished is None:
            self.is_open = False
            self._writer.lose()
            await self._transport.aclose()
        else:
            await self._finished.wait()

    async def _read(self) -> None:
        try:
            data = self._pending or await self._transport.receive()
            self._pending = b""
            while data:
                for frame in self._reader.feed(data):
                    waiting = self._take(frame)
                    if waiting is not None:
                        await self.see_through(waiting)
                if self._writer.unsent_bytes > self._limits.stop_reading_bytes:
                    await self.drained()
                data = await self._transport.receive()
        except PeerGone:
            return

    def _take(self, frame: Frame) -> Awaitable[None] | None:
        """Process one frame; return what must be awaited before the next one."""
        if isinstance(frame, TooLong):
            text = f"the message is longer than {frame.max_frame_bytes} bytes"
            self._enqueue(envelope.encode_error(None, INVALID_REQUEST, text))
            return None
        if isinstance(frame, BadHeader):
            self._enqueue(envelope.encode_error(None, PARSE_ERROR, "the header has no usable Content-Length"))
            return None
        message = envelope.classify(frame)
        if isinstance(message, Notification):
            is_late = self._unbegun and message.method != CANCEL_REQUEST
            return self._notice_after_requests(message) if is_late else self._notice(message)
        if isinstance(message, Request):
            self._start(message)
        elif isinstance(message, Reply):
            self._settle_call(message.id, message.outcome)
            return (
                anyio.lowlevel.checkpoint()
            )  # messages read after a response must also reach its caller after it
        else:
            self._refuse(message)
        return None

    def _start(self, request: Request) -> None:
        if request.id in self._running:
            text = "a request with this id is still running"
            self._enqueue(envelope.encode_error(request.id, INVALID_REQUEST, text))
        elif len(self._running) >= self._limits.in_flight or self._group is None:
            data = {"code": "overloaded"}
            text = "too many requests in flight"
            self._enqueue(envelope.encode_error(request.id, INTERNAL_ERROR, text, data))
        else:
            call = IncomingRequest(request)
            self._running[request.id] = call
            self._unbegun += 1
            self._group.start_soon(self._serve, call)

    async def _serve(self, call: IncomingRequest) -> None:
        """Run one request and send exactly one answer."""
        self._unbegun -= 1
        frame: bytes | None = None
        try:
            with call.scope:
                if not call.scope.cancel_called:
                    frame = await self._answer(call)
        finally:
            del self._running[call.id]
            if frame is None:
                frame = envelope.encode_error(call.id, CANCELLED, "the request was cancelled")
            self._enqueue(frame)
            if self._settled is not None and not self._running:
                self._settled.set()

    async def _answer(self, call: IncomingRequest) -> bytes | None:
        try:
            try:
                return envelope.encode_result(call.id, await self._handler.request(call))
            except PeerError as error:
                return envelope.encode_error(call.id, error.code, error.message, error.data)
        except Exception as error:
            if isinstance(error, PeerGone) and not self.is_open:
                return None  # its own call to this peer failed with the connection
            data = {"code": "bug", "trace": self._report(error)}
            return envelope.encode_error(call.id, INTERNAL_ERROR, "internal error", data)

    def _notice(self, message: Notification) -> Awaitable[None] | None:
        if message.method == CANCEL_REQUEST:
            self._cancel(message.params)
            return None
        try:
            return self._handler.notification(message.method, message.params)
        except PeerError:
            return None  # a notification has no response to carry it
        except Exception as error:
            self._report(error)
            return None

    async def _notice_after_requests(self, message: Notification) -> None:
        """Let earlier requests reach their handlers first, so that a cancellation finds its request."""
        while self._unbegun:
            await anyio.lowlevel.checkpoint()
        if (waiting := self._notice(message)) is not None:
            await waiting

    async def see_through(self, waiting: Awaitable[None]) -> None:
        """Await work that has no reply and report its unexpected exceptions."""
        try:
            await waiting
        except PeerError:
            return  # there is no reply to carry it
        except Exception as error:
            self._report(error)

    def _cancel(self, params: Raw) -> None:
        try:
            request_id = envelope.decode_params(params, _CancelParams).request_id
        except PeerError:
            return
        if call := self._running.get(request_id):
            call.scope.cancel()

    def _report(self, error: Exception) -> str:
        trace = os.urandom(6).hex()
        self._on_bug(error, trace)
        return trace

    def _refuse(self, message: Malformed) -> None:
        if message.spoiled_reply_to in self._calls:
            self._settle_call(
                message.spoiled_reply_to, ErrorObject(message.code, f"bad reply: {message.message}")
            )
            return
        # An error with the ID of a running request would be taken for that request's answer.
        answer_id = None if message.id in self._running else message.id
        self._enqueue(envelope.encode_error(answer_id, message.code, message.message))

    def _settle_call(self, call_id: RequestId | None, outcome: Raw | ErrorObject | None) -> None:
        """Wake the caller; a reply without a waiting caller is dropped."""
        if call_id is not None and (call := self._calls.pop(call_id, None)):
            call.outcome = outcome
            call.done.set()

    async def _wind_down(self) -> None:
        self.is_open = False
        for call_id in list(self._calls):
            self._settle_call(call_id, None)
        for call in self._running.values():
            call.scope.cancel()
        if self._running:
            self._settled = anyio.Event()
            await self._settled.wait()
        with anyio.move_on_after(self._limits.flush_s):
            await self._writer.flushed()

    def _enqueue(self, frame: bytes) -> None:
        self._writer.put(add_length(frame) if self._has_headers else frame)

    async def _write(self) -> None:
        await self._writer.run()
        self._lose_peer()
        self._reading.cancel()

    def _lose_peer(self) -> None:
        """Discard all output and release all callers that wait for a reply, because none will arrive."""
        self.is_open = False
        self._writer.lose()
        for call_id in list(self._calls):
            self._settle_call(call_id, None)


def _unpack(method: str, outcome: Raw | ErrorObject | None, result_type: type[T]) -> T:
    if outcome is None:
        raise PeerGone(f"{method} got no reply: the other side is gone")
    if isinstance(outcome, ErrorObject):
        raise PeerError(outcome.code, outcome.message, outcome.data)
    try:
        return msgspec.json.decode(outcome, type=result_type)
    except (msgspec.DecodeError, RecursionError):
        raise PeerError(INTERNAL_ERROR, f"the reply to {method} does not have the expected shape") from None
