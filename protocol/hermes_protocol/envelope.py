"""Convert one frame's bytes to a message and back.

Source: JSON-RPC 2.0 sections 4 and 5; batches are rejected, as in the Agent Client Protocol.
"""

import codecs
import re
from typing import Any, Final, TypeVar, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from hermes_protocol.errors import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, PeerError, data_of

T = TypeVar("T")
RequestId = int | str

_NO_PARAMS: Final = Raw(b"{}")
_SLICE_BYTES: Final = 1 << 20
_ENCODER: Final = msgspec.json.Encoder()
# Escaped backslashes and whole pairs are matched first, so that only a lone surrogate reaches the last
# branch.
_SURROGATE_ESCAPES: Final = re.compile(
    rb"\\\\|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


class Request(Struct, frozen=True):
    """A call that must be answered."""

    id: RequestId
    method: str
    params: Raw


class Notification(Struct, frozen=True):
    """A call that is never answered."""

    method: str
    params: Raw


class ErrorObject(Struct, frozen=True):
    """The error member of a received reply."""

    code: int
    message: str
    data: object = None


class Reply(Struct, frozen=True):
    """The answer to one of our calls; `id` is None if the other side could not determine it."""

    id: RequestId | None
    outcome: Raw | ErrorObject


class Malformed(Struct, frozen=True):
    """A frame that is none of the above; `encode` returns the error to send.

    `id` is the ID to answer with. `spoiled_reply_to` is set if the frame looks like the reply to a call
    of ours.
    """

    code: int
    message: str
    id: RequestId | None = None
    spoiled_reply_to: RequestId | None = None

    def encode(self) -> bytes:
        """Encode the error reply to this frame."""
        return encode_error(self.id, self.code, self.message)


class _Wire(Struct):
    jsonrpc: Raw | UnsetType = UNSET
    id: Raw | UnsetType = UNSET
    method: Raw | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


class _RequestFrame(Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId
    method: str
    params: object


class _NotificationFrame(Struct, tag_field="jsonrpc", tag="2.0"):
    method: str
    params: object


class _ResultFrame(Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId
    result: object


class _ErrorBody(Struct):
    code: int
    message: str
    data: object


class _ErrorFrame(Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId | None
    error: _ErrorBody


def classify(frame: bytes) -> Request | Notification | Reply | Malformed:
    """Return the message in a frame. Never raises, and never quotes the frame in an error.

    Lone surrogate escapes, which JavaScript writes for a truncated emoji, are read as U+FFFD.
    """
    if not _is_utf8(frame):
        return Malformed(PARSE_ERROR, "the message is not valid UTF-8")
    try:
        wire = _decode_object(frame)
    except RecursionError:
        return Malformed(INVALID_REQUEST, "the message is nested too deeply")
    except msgspec.ValidationError:
        return Malformed(INVALID_REQUEST, "the message must be a JSON object; batches are not supported")
    except msgspec.DecodeError:
        return Malformed(PARSE_ERROR, "the message is not valid JSON")
    call_id = _read_id(wire.id)
    if wire.method is not UNSET:
        return _read_call(wire, call_id)
    return _read_reply(wire, call_id)


def decode_params(params: Raw, shape: type[T]) -> T:
    """Decode a call's params. Raises PeerError(INVALID_PARAMS) with the location but not the content."""
    try:
        return msgspec.json.decode(params, type=shape)
    except msgspec.ValidationError as error:
        _, at, place = str(error).rpartition(" - at ")
        where = f" at {place}" if at else ""
        raise PeerError(INVALID_PARAMS, f"the parameters do not have the expected shape{where}") from None
    except (msgspec.DecodeError, RecursionError):
        raise PeerError(INVALID_PARAMS, "the parameters cannot be decoded") from None


def encode_request(call_id: RequestId, method: str, params: object) -> bytes:
    """Encode a call with its newline; UNSET members are left out, as in every encoder here."""
    return _encode(_RequestFrame(call_id, method, params))


def encode_notification(method: str, params: object) -> bytes:
    """Encode a notification with its newline."""
    return _encode(_NotificationFrame(method, params))


def encode_result(call_id: RequestId, result: object) -> bytes:
    """Encode a successful reply with its newline."""
    return _encode(_ResultFrame(call_id, result))


def encode_error(call_id: RequestId | None, code: int, message: str, data: object = None) -> bytes:
    """Encode an error reply with its newline; without `data`, it contains the stable name of its code."""
    return _encode(_ErrorFrame(call_id, _ErrorBody(code, message, data_of(code) if data is None else data)))


def _read_call(wire: _Wire, call_id: RequestId | UnsetType | None) -> Request | Notification | Malformed:
    answer_id = None if call_id is UNSET else call_id
    if not _has_version(wire):
        return Malformed(INVALID_REQUEST, 'the member jsonrpc must be "2.0"', answer_id)
    if wire.result is not UNSET or wire.error is not UNSET:
        return Malformed(INVALID_REQUEST, "a message has either a method or an outcome", answer_id)
    try:
        method = msgspec.json.decode(cast(Raw, wire.method), type=str)
    except msgspec.DecodeError:
        return Malformed(INVALID_REQUEST, "the method must be a string", answer_id)
    params = _NO_PARAMS if wire.params is UNSET else wire.params
    if memoryview(params)[0] not in b"{[":
        return Malformed(INVALID_REQUEST, "params must be an object or an array", answer_id)
    if call_id is UNSET:
        return Notification(method, params)
    if call_id is None:
        return Malformed(INVALID_REQUEST, "the id must be a string or an integer")
    return Request(call_id, method, params)


def _read_reply(wire: _Wire, call_id: RequestId | UnsetType | None) -> Reply | Malformed:
    known_id = None if call_id is UNSET else call_id
    has_error = wire.error is not UNSET and bytes(wire.error) != b"null"
    if wire.result is UNSET and not has_error:
        return Malformed(
            INVALID_REQUEST, "a message needs a method, a result or an error", known_id, known_id
        )
    # From here on, the ID belongs to our own calls; answering with it could end a call by the other side.
    if not _has_version(wire):
        return Malformed(INVALID_REQUEST, 'the member jsonrpc must be "2.0"', None, known_id)
    if wire.result is not UNSET and has_error:
        return Malformed(INVALID_REQUEST, "a reply has either a result or an error", None, known_id)
    if call_id is UNSET or (call_id is None and bytes(cast(Raw, wire.id)) != b"null"):
        return Malformed(INVALID_REQUEST, "the id must be a string or an integer")
    if not has_error:
        return Reply(call_id, cast(Raw, wire.result))
    try:
        return Reply(call_id, msgspec.json.decode(cast(Raw, wire.error), type=ErrorObject))
    except (msgspec.DecodeError, RecursionError):
        return Malformed(INVALID_REQUEST, "the error of a reply needs a code and a message", None, known_id)


def _read_id(raw: Raw | UnsetType) -> RequestId | UnsetType | None:
    """Return the ID, UNSET if the frame has none, or None if it cannot be used in an answer."""
    if raw is UNSET:
        return UNSET
    try:
        return msgspec.json.decode(raw, type=int | str)
    except msgspec.DecodeError:
        return None


def _has_version(wire: _Wire) -> bool:
    return wire.jsonrpc is not UNSET and bytes(wire.jsonrpc) == b'"2.0"'


def _decode_object(frame: bytes) -> _Wire:
    try:
        return msgspec.json.decode(frame, type=_Wire)
    except msgspec.ValidationError:
        msgspec.json.decode(frame, type=Raw)  # it is not an object, but it may be JSON
        raise
    except msgspec.DecodeError:
        mended, count = _SURROGATE_ESCAPES.subn(_mend_surrogate, frame)
        if count == 0:
            raise
        return msgspec.json.decode(mended, type=_Wire)


def _mend_surrogate(match: re.Match[bytes]) -> bytes:
    return match[0] if match[1] is None else rb"\ufffd"


def _is_utf8(frame: bytes) -> bool:
    """Check for valid UTF-8 without holding a decoded copy of a large frame."""
    if frame.isascii():
        return True
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(frame), _SLICE_BYTES):
            decoder.decode(frame[start : start + _SLICE_BYTES])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _encode(message: Struct) -> bytes:
    try:
        return _ENCODER.encode(message) + b"\n"
    except UnicodeEncodeError:
        plain = msgspec.to_builtins(message, enc_hook=_plain_raw)
        return _ENCODER.encode(_without_surrogates(plain)) + b"\n"


def _plain_raw(value: object) -> object:
    if isinstance(value, Raw):
        return msgspec.json.decode(value)
    raise NotImplementedError(f"cannot encode a {type(value).__name__}")


def _without_surrogates(value: Any) -> Any:
    """Join surrogate pairs and replace lone surrogates with U+FFFD in every string of a plain JSON value."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        members = cast(dict[Any, Any], value)
        return {_without_surrogates(key): _without_surrogates(member) for key, member in members.items()}
    if isinstance(value, (list, tuple)):
        return [_without_surrogates(item) for item in cast(list[Any], value)]
    return value
