"""Separate a script's notices from its command's output.

A notice consists of RS, a token, a word, a value and RS.
"""

from typing import Final

from msgspec import Struct

RECORD_SEPARATOR: Final = b"\036"
MAX_CHARS: Final = 8192


class Notice(Struct, frozen=True):
    """One report from a script.

    `began` contains its process ID, `stands` its working directory, `left` whether something is still running, and the
    final `ended` an exit code; `nowhere` means that the folder is unusable.
    """

    word: str
    value: str


class NoticeReader:
    """Splits a stream into output and notices with one token, regardless of chunk boundaries."""

    def __init__(self, token: str) -> None:
        self._start = RECORD_SEPARATOR + token.encode() + b" "
        self._held = b""

    def feed(self, chunk: bytes) -> tuple[bytes, list[Notice]]:
        """Append the next bytes of output; return the output and the notices in them."""
        data = self._held + chunk
        output = bytearray()
        notices: list[Notice] = []
        while (start := data.find(self._start)) >= 0:
            end = data.find(RECORD_SEPARATOR, start + len(self._start), start + MAX_CHARS)
            if end < 0:
                break
            output += data[:start]
            word, _, value = data[start + len(self._start) : end].decode("utf-8", "replace").partition(" ")
            notices.append(Notice(word, value))
            data = data[end + 1 :]
        kept = start if start >= 0 and len(data) - start < MAX_CHARS else len(data) - self._cut_start(data)
        output += data[:kept]
        self._held = data[kept:]
        return bytes(output), notices

    def rest(self) -> bytes:
        """Return the text that was held back as a possible start of a notice, once the stream has ended."""
        held, self._held = self._held, b""
        return held

    def _cut_start(self, data: bytes) -> int:
        """Return the number of bytes at the end that may be the start of a notice."""
        most = min(len(data), len(self._start) - 1)
        return next((size for size in range(most, 0, -1) if self._start.startswith(data[-size:])), 0)
