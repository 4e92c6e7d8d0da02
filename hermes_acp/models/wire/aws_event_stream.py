"""Decode Amazon's event streams, however the network splits them.

Source: Smithy, "Amazon Event Stream Specification" (application/vnd.amazon.eventstream).
"""

import struct
from typing import Final
from zlib import crc32

import msgspec

from hermes_acp.core.errors import BadReply

MAX_FRAME_SIZE_BYTES: Final = 16 * 1024 * 1024
_PRELUDE: Final = struct.Struct(">III")
_CHECKSUM: Final = struct.Struct(">I")
_FIXED_SIZES: Final = (0, 0, 1, 2, 4, 8, -1, -1, 8, 16)
"""The size of a header value for each type; negative if the size is in the two bytes before the value."""
_TEXT: Final = 7
_HEADS_KEPT: Final = 32


class EventStreamDecoder:
    """Collects bytes into complete events, as pairs of name and data; one instance per stream.

    The data of an event or exception is a JSON object whose only field is the event's name.
    """

    def __init__(self, max_frame_size_bytes: int = MAX_FRAME_SIZE_BYTES) -> None:
        self._max_size_bytes = max_frame_size_bytes
        self._waiting = bytearray()
        self._known_heads: dict[bytes, dict[str, str]] = {}

    def feed(self, data: bytes) -> list[tuple[str, bytes]]:
        """Add bytes; return the events that they complete. Raises BadReply for an invalid frame."""
        waiting = self._waiting
        waiting += data
        events: list[tuple[str, bytes]] = []
        start = 0
        while len(waiting) - start >= _PRELUDE.size:
            size, headers_size, checksum = _PRELUDE.unpack_from(waiting, start)
            if crc32(waiting[start : start + 8]) != checksum:
                raise BadReply("The model's answer has a frame whose head is damaged.", retryable=True)
            if size > self._max_size_bytes or headers_size > size - _PRELUDE.size - _CHECKSUM.size:
                raise BadReply(f"The model's answer has a frame of {size} bytes.", retryable=True)
            if len(waiting) - start < size:
                break
            events.append(self._read_frame(bytes(waiting[start : start + size]), headers_size))
            start += size
        del waiting[:start]
        return events

    def _read_frame(self, frame: bytes, headers_size: int) -> tuple[str, bytes]:
        body_end = len(frame) - _CHECKSUM.size
        if (crc32(frame[:body_end]),) != _CHECKSUM.unpack_from(frame, body_end):
            raise BadReply("The model's answer has a frame that is damaged.", retryable=True)
        headers_end = _PRELUDE.size + headers_size
        headers = self._headers(frame[_PRELUDE.size : headers_end])
        payload = frame[headers_end:body_end] or b"{}"
        name = headers.get(":event-type") or headers.get(":exception-type") or headers.get(":error-code", "")
        if headers.get(":message-type") == "error":
            payload = msgspec.json.encode({"message": headers.get(":error-message", "")})
            name = "error"
        return name, b"{%s:%s}" % (msgspec.json.encode(name), payload)

    def _headers(self, head: bytes) -> dict[str, str]:
        """Return a frame's headers; thousands of frames have identical headers, so they are cached."""
        if (known := self._known_heads.get(head)) is not None:
            return known
        try:
            headers = _read_headers(head)
        except (struct.error, IndexError, UnicodeDecodeError):
            raise BadReply(
                "The model's answer has a frame without readable headers.", retryable=True
            ) from None
        if len(self._known_heads) < _HEADS_KEPT:
            self._known_heads[head] = headers
        return headers


def _read_headers(data: bytes) -> dict[str, str]:
    """Return the text headers; other headers are ignored."""
    headers: dict[str, str] = {}
    place = 0
    while place < len(data):
        name_end = place + 1 + data[place]
        name, kind = data[place + 1 : name_end].decode(), data[name_end]
        place, size = name_end + 1, _FIXED_SIZES[kind]
        if size < 0:
            (size,) = struct.unpack_from(">H", data, place)
            place += 2
        if kind == _TEXT:
            headers[name] = data[place : place + size].decode()
        place += size
    return headers
