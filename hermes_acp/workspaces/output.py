"""Keep the beginning and the end of a command's output, however much comes between.

Knows: bytes, UTF-8, two bounded buffers. Does not know: processes.
"""

import codecs

KEPT_BYTES = 32 * 1024


class BoundedOutput:
    """The first and the last `kept` bytes of a stream; its memory does not grow with the stream."""

    def __init__(self, kept: int = KEPT_BYTES) -> None:
        self._kept = kept
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, chunk: bytes) -> str:
        """Take the next bytes and give them as text; a character cut in two comes with its second half."""
        self._total += len(chunk)
        room = self._kept - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 4 * self._kept:
            del self._tail[: -self._kept]
        return self._decoder.decode(chunk)

    def finish(self) -> str:
        """Give what the decoder still holds of a character that never ended."""
        return self._decoder.decode(b"", final=True)

    def text(self) -> str:
        """Give what was kept, with a line in the gap that names how many bytes were left out.

        The gap is between lines, or at least words: half a secret could not be told from anything else.
        """
        if self._total <= 2 * self._kept:
            return (self._head + self._tail).decode("utf-8", "replace")
        head = _without_cut_end(_to_a_break(bytes(self._head)))
        tail = _without_cut_start(_from_a_break(bytes(self._tail[-self._kept :])))
        left_out = self._total - len(head) - len(tail)
        marker = f"\n[… {left_out:,} of {self._total:,} bytes left out here …]\n"
        return head.decode("utf-8", "replace") + marker + tail.decode("utf-8", "replace")


def _to_a_break(piece: bytes) -> bytes:
    """Leave out the last line, or the last word of one that is too long to lose."""
    least = len(piece) - len(piece) // 8
    end = piece.rfind(b"\n", least)
    end = piece.rfind(b" ", least) if end < 0 else end
    return piece if end < 0 else piece[: end + 1]


def _from_a_break(piece: bytes) -> bytes:
    """Leave out the first line, or the first word of one that is too long to lose."""
    most = len(piece) // 8
    start = piece.find(b"\n", 0, most)
    start = piece.find(b" ", 0, most) if start < 0 else start
    return piece[start + 1 :]


def _without_cut_end(piece: bytes) -> bytes:
    for back in range(1, min(4, len(piece)) + 1):
        byte = piece[-back]
        if byte < 0x80:
            return piece
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return piece[:-back] if back < length else piece
    return piece


def _without_cut_start(piece: bytes) -> bytes:
    for start in range(min(4, len(piece))):
        if piece[start] & 0xC0 != 0x80:
            return piece[start:]
    return piece
