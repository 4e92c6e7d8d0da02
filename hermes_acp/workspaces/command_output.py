"""Keep the start and the end of a command's output in bounded memory."""

import codecs
from collections.abc import Callable

from hermes_acp.core.word_breaks import trim_from_break, trim_to_break
from hermes_acp.workspaces.output_files import OutputFile

KEPT_BYTES = 32 * 1024
MAX_WORD_CHARS = 4096


class BoundedOutput:
    """The first and last `kept` bytes of a stream; memory use does not grow with the stream.

    Once something has to be left out, `keep` is called for a file that stores the whole stream, or None.
    """

    def __init__(self, kept: int = KEPT_BYTES, keep: Callable[[], OutputFile | None] | None = None) -> None:
        self._kept = kept
        self._keep = keep
        self._file: OutputFile | None = None
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, chunk: bytes) -> str:
        """Decode the next bytes of output; a split character is returned once its second half arrives."""
        self.take(chunk)
        return self._decoder.decode(chunk)

    def take(self, chunk: bytes) -> None:
        """Append the next bytes of output."""
        self._total += len(chunk)
        room = self._kept - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if self._file is not None:
            self._file.write(chunk)
        elif self._total > 2 * self._kept and self._keep is not None:
            self._start_keeping()
        if len(self._tail) > 4 * self._kept:
            del self._tail[: -self._kept]

    def _start_keeping(self) -> None:
        """Write everything so far to the file; all of it is still in memory, because nothing was left out before."""
        keep, self._keep = self._keep, None
        self._file = keep() if keep else None
        if self._file is not None:
            self._file.write(self._head)
            self._file.write(self._tail)

    def finish(self) -> str:
        """Return the decoder's remainder of an incomplete character; no more output may follow."""
        if self._file is not None:
            self._file.close()
        return self._decoder.decode(b"", final=True)

    def text(self, file: OutputFile | None = None) -> str:
        """Return the kept text; a line in the gap says how many bytes were left out and where the full output is.

        The full output is in `file` if another file took the stream. The gap is between lines, or at least
        words, because half a secret could not be recognised.
        """
        if self._total <= 2 * self._kept:
            return (self._head + self._tail).decode("utf-8", "replace")
        head = _without_cut_end(trim_to_break(bytes(self._head)))
        tail = _without_cut_start(trim_from_break(bytes(self._tail[-self._kept :])))
        left_out = self._total - len(head) - len(tail)
        place = _location_of(file or self._file)
        marker = f"\n[… {left_out:,} of {self._total:,} bytes left out here{place} …]\n"
        return head.decode("utf-8", "replace") + marker + tail.decode("utf-8", "replace")


class WordJoiner:
    """Joins text that is read in pieces without splitting words: a split word is repeated in full.

    Half a secret could not be recognised. A caller that waits for a prompt still sees the split word at once.
    """

    def __init__(self) -> None:
        self._begun = ""

    def join(self, text: str) -> str:
        """Return the next piece, preceded by the last piece's final word if that word continues."""
        if not text:
            return ""
        whole = text if text[0].isspace() else self._begun + text
        words = whole[-MAX_WORD_CHARS:].split()
        self._begun = words[-1] if words and not whole[-1].isspace() else ""
        return whole


def _location_of(file: OutputFile | None) -> str:
    if file is None or not file.size_bytes:
        return ""
    share = "all of it" if file.is_whole else f"the first {file.size_bytes:,} bytes of all"
    return f"; {share} can be read in {file.path}"


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
