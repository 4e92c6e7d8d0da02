"""Read and write the messages of one connection; check incoming ones, and keep outgoing ones in order.

pygls could read messages itself, but it leaves malformed requests unanswered and has no size limit. Source: LSP 3.18,
"Base Protocol" and "Server lifecycle".
"""

import sys
from collections.abc import Callable
from concurrent.futures import InvalidStateError
from typing import Any, Final, cast

import anyio
import anyio.lowlevel
import msgspec
from cattrs import ClassValidationError, transform_error
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from hermes_acp.frontends.lsp import messages
from hermes_protocol.errors import PeerGone
from hermes_protocol.framing import BadHeader, ContentLengthReader, Frame, TooLong, add_length
from hermes_protocol.transport import Transport

MAX_REASONS: Final = 3
MAX_REASON_LENGTH: Final = 300
SHUTDOWN_GRACE_S: Final = 2.0
Message = dict[str, Any]
RunGuarded = Callable[[Callable[[], None]], None]


class LspTransport:
    """A connection to an editor, from its first byte to its last."""

    def __init__(self, transport: Transport, server: LanguageServer) -> None:
        self._transport = transport
        self._server = server
        self._outgoing: list[bytes] = []
        self._has_outgoing = anyio.Event()
        self._scope = anyio.CancelScope()
        self._is_leaving = False
        self._has_left = anyio.Event()
        self._was_initialized = False
        self._is_shut_down = False
        self._has_exited = False
        self._attempt: RunGuarded = _do
        server.protocol.set_writer(self, include_headers=False)

    @property
    def exit_code(self) -> int:
        """The exit code that the protocol requires: 1 after an exit without a shutdown."""
        return 1 if self._has_exited and not self._is_shut_down else 0

    def write(self, data: bytes) -> None:
        """Queue one message; pygls calls this."""
        self._outgoing.append(add_length(data))
        self._has_outgoing.set()

    def close(self) -> None:
        """Stop reading messages."""
        self._scope.cancel()

    async def listen(self, attempt: RunGuarded) -> None:
        """Read messages until the editor exits or closes the input; `attempt` runs the processing of each message."""
        self._attempt = attempt
        reader = ContentLengthReader()
        with self._scope:
            try:
                while data := await self._transport.receive():
                    for frame in reader.feed(data):
                        self._take_frame(frame)
                        await _let_begin()
            except PeerGone:
                return

    async def send(self) -> None:
        """Write queued messages; if the peer stops reading, end the connection."""
        try:
            while not (self._is_leaving and not self._outgoing):
                await self._has_outgoing.wait()
                self._has_outgoing = anyio.Event()
                while self._outgoing:
                    await self._transport.send(self._outgoing.pop(0))
        except PeerGone:
            self.close()
        finally:
            self._has_left.set()

    async def close_when_written(self) -> None:
        """Close after the queued messages have been written, or after SHUTDOWN_GRACE_S."""
        self._is_leaving = True
        self._has_outgoing.set()
        with anyio.move_on_after(SHUTDOWN_GRACE_S, shield=True):
            await self._has_left.wait()
        await self._transport.aclose()

    def _take_frame(self, frame: Frame) -> None:
        match frame:
            case TooLong(max_frame_bytes=most):
                self._refuse(None, types.ErrorCodes.InvalidRequest, messages.message_too_long(most))
            case BadHeader():
                self._refuse(None, types.ErrorCodes.ParseError, messages.NO_CONTENT_LENGTH)
            case body:
                self._take_body(body)

    def _take_body(self, body: bytes) -> None:
        try:
            message = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            self._refuse(None, types.ErrorCodes.ParseError, messages.not_json(str(error)))
            return
        if not isinstance(message, dict) or cast("Message", message).get("jsonrpc") != "2.0":
            self._refuse(None, types.ErrorCodes.InvalidRequest, messages.NOT_JSON_RPC)
            return
        self._take(cast("Message", message))

    def _take(self, message: Message) -> None:
        """Process a message if it is allowed: `initialize` must come first, and only `exit` may follow `shutdown`."""
        method, call_id = message.get("method"), message.get("id")
        if method == types.EXIT:
            self._has_exited = True
            self.close()
        elif method is not None and not isinstance(method, str):
            self._refuse(None, types.ErrorCodes.InvalidRequest, messages.METHOD_NOT_STRING)
        elif call_id is not None and not _is_id(call_id):
            self._refuse(None, types.ErrorCodes.InvalidRequest, messages.ID_MALFORMED)
        elif method and (untimely := self._why_untimely(method)):
            if "id" in message:
                self._refuse(call_id, *untimely)
        else:
            self._was_initialized |= method == types.INITIALIZE
            self._is_shut_down |= method == types.SHUTDOWN
            self._dispatch(message)

    def _why_untimely(self, method: str) -> tuple[types.ErrorCodes, str] | None:
        if self._is_shut_down:
            return types.ErrorCodes.InvalidRequest, messages.SHUT_DOWN
        if method == types.INITIALIZE and self._was_initialized:
            return types.ErrorCodes.InvalidRequest, messages.ALREADY_INITIALIZED
        if method != types.INITIALIZE and not self._was_initialized:
            return types.ErrorCodes.ServerNotInitialized, messages.NOT_INITIALIZED
        return None

    def _dispatch(self, message: Message) -> None:
        protocol = self._server.protocol
        message.setdefault("params", {} if message.get("method") == types.INITIALIZED else None)
        try:
            understood = protocol.structure_message(message)
        except JsonRpcException as error:
            self._tell_misunderstood(message, _reasons(error.__cause__))
            return
        if message.get("method") == types.CANCEL_REQUEST and not _is_id(message["params"].get("id")):
            log_line(messages.ignored_notification(types.CANCEL_REQUEST, messages.CANCEL_WITHOUT_ID))
            return
        self._attempt(lambda: self._hand_on(understood))

    def _hand_on(self, understood: object) -> None:
        try:
            self._server.protocol.handle_message(cast("Any", understood))
        except InvalidStateError:
            return  # the response belongs to a cancelled request

    def _tell_misunderstood(self, message: Message, why: str) -> None:
        method, call_id = message.get("method"), message.get("id")
        if method is None:  # fail the request whose response is malformed
            error = types.ResponseError(
                types.ErrorCodes.InvalidRequest.value, messages.malformed_response(why)
            )
            answer = types.ResponseErrorMessage(id=call_id, error=error)
            self._attempt(lambda: self._hand_on(answer))
        elif "id" in message:
            self._refuse(call_id, types.ErrorCodes.InvalidParams, messages.invalid_parameters(method, why))
        else:
            log_line(messages.ignored_notification(method, messages.invalid_notification(why)))

    def _refuse(self, call_id: object, code: types.ErrorCodes, why: str) -> None:
        log_line(messages.rejected_message(why))
        answer = {"jsonrpc": "2.0", "id": call_id, "error": {"code": code.value, "message": why}}
        self.write(msgspec.json.encode(answer))


def _is_id(given: object) -> bool:
    return isinstance(given, int | str) and not isinstance(given, bool)


def _do(work: Callable[[], None]) -> None:
    work()


async def _let_begin() -> None:
    """Let the tasks of a message start before the next message is processed: first the one of pygls, then ours.

    Otherwise, a keystroke right after a request would cancel it before its document is known.
    """
    await anyio.lowlevel.checkpoint()
    await anyio.lowlevel.checkpoint()


def log_line(text: str) -> None:
    """Write one line to standard error, which editors keep as the server's log."""
    sys.stderr.write(f"{messages.log_entry(text)}\n")
    sys.stderr.flush()


def _reasons(error: BaseException | None) -> str:
    """Return the errors in a message, field by field, without any values."""
    if isinstance(error, ClassValidationError):
        return "; ".join(transform_error(error, "message")[:MAX_REASONS])[:MAX_REASON_LENGTH] + "."
    return messages.PARAMETERS_MISMATCH
