"""Decompress response bodies piece by piece, up to a limit."""

import zlib
from typing import Final

from hermes_acp.core.errors import WorkspaceError

MAX_RATIO: Final = 200
RATIO_BEGINS_AT: Final = 1 << 20


class DecodedBody:
    """A body of at most `max_bytes`; `is_cut` says that it was truncated."""

    def __init__(self, encoding: str, max_bytes: int) -> None:
        """Initialise for a `content-encoding`. Raises WorkspaceError for an unexpected value."""
        name = encoding.strip().lower()
        if name not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise WorkspaceError(f"The page is compressed with {name[:40]!r}, which was not requested.")
        self._unpacker = zlib.decompressobj(47) if name in ("gzip", "x-gzip", "deflate") else None
        self._is_bare = name == "deflate"
        self._most = max_bytes
        self._taken = 0
        self.content = bytearray()
        self.is_cut = False

    def feed(self, chunk: bytes) -> bool:
        """Decode a received piece; return whether more is wanted.

        Raises WorkspaceError for a decompression bomb or bad data.
        """
        room = self._most - len(self.content) + 1
        self.content += chunk[:room] if self._unpacker is None else self._unpack(chunk, room)
        self._taken += len(chunk) - len(self._unpacker.unconsumed_tail if self._unpacker else b"")
        if len(self.content) > max(RATIO_BEGINS_AT, MAX_RATIO * self._taken):
            raise WorkspaceError(
                f"The page unpacks to more than {MAX_RATIO} times its size, as malicious archives do."
            )
        if len(self.content) > self._most:
            del self.content[self._most :]
            self.is_cut = True
        return not self.is_cut

    def _unpack(self, chunk: bytes, room: int) -> bytes:
        assert self._unpacker is not None
        try:
            return self._unpacker.decompress(chunk, room)
        except zlib.error as error:
            if self._is_bare and not self.content:
                # Some servers send deflate without the wrapper that the standard requires.
                self._unpacker, self._is_bare = zlib.decompressobj(-15), False
                return self._unpack(chunk, room)
            raise WorkspaceError("The page is compressed in a way that cannot be decoded.") from error
