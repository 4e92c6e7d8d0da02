"""Amazon's event stream frames, however they are split, and invalid frames."""

from __future__ import annotations

import pytest

from hermes_acp.core.errors import BadReply
from hermes_acp.models.wire.aws_event_stream import EventStreamDecoder
from tests.model_server.bedrock_wire import frame

EVENT = frame({":message-type": "event", ":event-type": "messageStart", "x": "y"}, b'{"role":"assistant"}')
EXCEPTION = frame(
    {":message-type": "exception", ":exception-type": "throttlingException"}, b'{"message":"no"}'
)
ERROR = frame({":message-type": "error", ":error-code": "Oops", ":error-message": "no"}, b"")
READ = [
    ("messageStart", b'{"messageStart":{"role":"assistant"}}'),
    ("throttlingException", b'{"throttlingException":{"message":"no"}}'),
    ("error", b'{"error":{"message":"no"}}'),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 11, 12, 13, 1000])
def test_frames_are_found_however_they_are_split(size: int) -> None:
    decoder = EventStreamDecoder()
    data = EVENT + EXCEPTION + ERROR
    events = [event for at in range(0, len(data), size) for event in decoder.feed(data[at : at + size])]
    assert events == READ


def test_headers_of_all_kinds_are_skipped() -> None:
    kinds = (
        b"\x01a\x00" + b"\x01b\x01" + b"\x01c\x02\x07" + b"\x01d\x03\x00\x01" + b"\x01e\x04\x00\x00\x00\x01"
    )
    kinds += (
        b"\x01f\x05" + bytes(8) + b"\x01g\x06\x00\x03abc" + b"\x01h\x08" + bytes(8) + b"\x01i\x09" + bytes(16)
    )
    name = b"\x0b:event-type\x07\x00\x04stop"
    assert EventStreamDecoder().feed(raw_frame(kinds + name, b"{}")) == [("stop", b'{"stop":{}}')]


@pytest.mark.parametrize("place", [3, 9, 20, len(EVENT) - 20, len(EVENT) - 1])
def test_a_changed_byte_is_detected(place: int) -> None:
    damaged = EVENT[:place] + bytes([EVENT[place] ^ 1]) + EVENT[place + 1 :]
    with pytest.raises(BadReply) as caught:
        EventStreamDecoder().feed(damaged)
    assert caught.value.retryable


def test_a_frame_that_is_too_large_or_has_unreadable_headers_is_rejected() -> None:
    with pytest.raises(BadReply, match="frame of"):
        EventStreamDecoder(max_frame_size_bytes=20).feed(EVENT)
    with pytest.raises(BadReply, match="headers"):
        EventStreamDecoder().feed(raw_frame(b"\x05abc", b"{}"))


def raw_frame(headers: bytes, payload: bytes) -> bytes:
    """Return a frame with the given raw header bytes."""
    import struct
    from zlib import crc32

    prelude = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    message = prelude + struct.pack(">I", crc32(prelude)) + headers + payload
    return message + struct.pack(">I", crc32(message))
