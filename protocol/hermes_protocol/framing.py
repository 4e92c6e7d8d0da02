"""Split bytes from the wire into frames, with bounded memory.

Source: the Agent Client Protocol's stdio transport; the base protocol of the Language Server Protocol 3.17.
"""

from typing import Final, Literal, Protocol

from msgspec import Struct

DEFAULT_MAX_FRAME_BYTES: Final = 32 << 20
_MAX_HEADER_BYTES: Final = 8192
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"

FramingName = Literal["lines", "content-length"]


class TooLong(Struct, frozen=True):
    """Replaces a frame that was dropped for exceeding the limit."""

    max_frame_bytes: int


class BadHeader(Struct, frozen=True):
    """Returned in place of a frame whose header block has no usable Content-Length."""


Frame = bytes | TooLong | BadHeader


class FrameReader(Protocol):
    """Splits a byte stream into frames, regardless of how it is chunked."""

    def feed(self, data: bytes) -> list[Frame]:
        """Add bytes and return the frames that they complete."""
        ...


class LineReader:
    """Reads one frame per line.

    Blank lines are skipped; text after the last newline at the end of input is not a frame.
    """

    def __init__(self, max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._partial = bytearray()
        self._is_skipping = False
        self._is_at_start = True

    def feed(self, data: bytes) -> list[Frame]:
        """Add bytes and return the frames that they complete."""
        frames: list[Frame] = []
        lines = data.split(b"\n")
        rest = lines.pop()
        for line in lines:
            if self._is_skipping:
                self._is_skipping = False
            elif self._partial:
                self._partial += line[: self._room()]
                whole = bytes(self._partial)
                self._partial = bytearray()
                self._close_line(whole, frames)
            else:
                self._close_line(line, frames)
        if rest and not self._is_skipping:
            self._partial += rest[: self._room()]
            if len(self._partial) > self._limit():
                self._is_skipping = True
                self._is_at_start = False
                self._partial = bytearray()
                frames.append(TooLong(self._max_frame_bytes))
        return frames

    def _limit(self) -> int:
        """Return the maximum line length before the newline: the frame, a carriage return, and an initial mark."""
        return self._max_frame_bytes + 1 + (len(_BYTE_ORDER_MARK) if self._is_at_start else 0)

    def _room(self) -> int:
        return self._limit() + 1 - len(self._partial)

    def _close_line(self, line: bytes, frames: list[Frame]) -> None:
        if self._is_at_start:
            self._is_at_start = False
            line = line.removeprefix(_BYTE_ORDER_MARK)
        line = line.removesuffix(b"\r")
        if len(line) > self._max_frame_bytes:
            frames.append(TooLong(self._max_frame_bytes))
        elif line and not line.isspace():
            frames.append(line)


class ContentLengthReader:
    """Reads frames after `Content-Length: n` headers. After reporting a bad header block, it tries the next line."""

    def __init__(self, max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES) -> None:
        self._max_frame_bytes = max_frame_bytes
        self._buffer = bytearray()
        self._header_bytes = 0
        self._length: int | None = None
        self._body_bytes: int | None = None
        self._skip_bytes = 0
        self._is_skipping_line = False

    def feed(self, data: bytes) -> list[Frame]:
        """Add bytes and return the frames that they complete."""
        frames: list[Frame] = []
        self._buffer += data
        while self._skip() and (
            self._take_body(frames) if self._body_bytes is not None else self._take_line(frames)
        ):
            pass
        return frames

    def _skip(self) -> bool:
        """Drop the remainder of an overlong body; return True once all of it has arrived."""
        dropped = min(self._skip_bytes, len(self._buffer))
        if dropped:
            del self._buffer[:dropped]
            self._skip_bytes -= dropped
        return self._skip_bytes == 0

    def _take_body(self, frames: list[Frame]) -> bool:
        size_bytes = self._body_bytes
        if size_bytes is None or len(self._buffer) < size_bytes:
            return False
        frames.append(bytes(memoryview(self._buffer)[:size_bytes]))
        del self._buffer[:size_bytes]
        self._body_bytes = None
        return True

    def _take_line(self, frames: list[Frame]) -> bool:
        """Read one header line; return False if more bytes are needed."""
        end = self._buffer.find(b"\n")
        if end < 0:
            if self._is_skipping_line or self._header_bytes + len(self._buffer) > _MAX_HEADER_BYTES:
                self._buffer.clear()
                self._reject(frames)
                self._is_skipping_line = True
            return False
        line = bytes(self._buffer[:end]).rstrip(b"\r")
        del self._buffer[: end + 1]
        self._header_bytes += end + 1
        if self._is_skipping_line:
            self._is_skipping_line = False
            self._header_bytes = 0
        elif self._header_bytes > _MAX_HEADER_BYTES:
            self._reject(frames)
        elif line:
            self._take_field(line, frames)
        elif self._header_bytes > end + 1:
            self._start_body(frames)
        else:
            self._header_bytes = 0  # a blank line between frames
        return True

    def _take_field(self, line: bytes, frames: list[Frame]) -> None:
        name, _, value = line.partition(b":")
        if name.strip().lower() != b"content-length":
            return
        digits = value.strip()
        if digits.isdigit() and len(digits) <= 15:
            self._length = int(digits)
        else:
            self._reject(frames)

    def _start_body(self, frames: list[Frame]) -> None:
        length = self._length
        if length is None:
            self._reject(frames)
            return
        self._length = None
        self._header_bytes = 0
        if length > self._max_frame_bytes:
            self._skip_bytes = length
            frames.append(TooLong(self._max_frame_bytes))
        else:
            self._body_bytes = length

    def _reject(self, frames: list[Frame]) -> None:
        if not self._is_skipping_line:
            frames.append(BadHeader())
        self._length = None
        self._header_bytes = 0


def open_reader(framing: FramingName, max_frame_bytes: int = DEFAULT_MAX_FRAME_BYTES) -> FrameReader:
    """Return a new reader for the framing with the given name."""
    return LineReader(max_frame_bytes) if framing == "lines" else ContentLengthReader(max_frame_bytes)


def add_length(payload: bytes) -> bytes:
    """Prefix a payload with its Content-Length header."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(payload), payload)
