"""Show lines of a large file without holding the whole file in memory.

The file is read in pieces. Lines are numbered and the digest is computed in a worker thread as the pieces arrive. The
result equals what `line_views.show_lines` returns for the whole text.
"""

import codecs
import re
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.event_types import FileVersion
from hermes_acp.core.ports.workspace_ports import MAX_WHOLE_FILE_BYTES, Files
from hermes_acp.core.record.file_versions import content_digest
from hermes_acp.tools.charset_detection import SAMPLE_BYTES, SAMPLE_LEAD_BYTES, candidate_encodings
from hermes_acp.tools.line_views import LineCollector
from hermes_acp.tools.text_files import PROBED_BYTES, binary_file_error, byte_order_mark, has_binary_controls

LARGE_BYTES: Final = 256 * 1024
"""Below this size, reading a file whole takes less time and little memory."""
PIECE_BYTES: Final = 1024 * 1024
REMOTE_PIECE_BYTES: Final = 4 * 1024 * 1024
"""The piece size for remote files, where each piece costs a round trip."""
_NON_ASCII: Final = re.compile(rb"[\x80-\xff]")


class FilePart(Struct, frozen=True):
    """Lines of a file, ready to be shown; `lines` holds those that are complete, without their endings.

    `version` is missing if the file was not read to its end.
    """

    text: str
    lines: tuple[str, ...]
    encoding: str
    version: FileVersion | None = None


class _Pass:
    """One pass over a file in one encoding; `feed` blocks, so call it in a worker thread."""

    def __init__(self, encoding: str, first: int, limit: int, *, mark: bytes = b"", is_counted: bool) -> None:
        self.collector = LineCollector(first, limit)
        self.encoding = encoding
        self.mark = mark
        self.digest = content_digest()
        self.first_high: int | None = None
        """The position of the first byte that is not ASCII."""
        self._is_counted = is_counted
        self._decoder = codecs.getincrementaldecoder(encoding)("strict" if is_counted else "replace")
        self._size_bytes = 0

    def feed(self, content: bytes, *, is_last: bool) -> bool:
        """Process the next chunk of bytes; return whether more is needed. Raises UnicodeDecodeError."""
        for at in range(0, len(content), PIECE_BYTES) if content else (0,):
            piece = content[at : at + PIECE_BYTES] if len(content) > PIECE_BYTES else content
            if not self._is_counted and self.encoding == "utf-8" and self.collector.skip(piece):
                continue
            self.collector.feed(self._decoded(piece, is_last=is_last and at + PIECE_BYTES >= len(content)))
            if not self._is_counted and self.collector.is_full:
                return False
        if is_last:
            self.collector.finish()
        return True

    def _decoded(self, piece: bytes, *, is_last: bool) -> str:
        if self._is_counted:
            self.digest.update(piece)
        if self.first_high is None and not piece.isascii() and (found := _NON_ASCII.search(piece)):
            self.first_high = self._size_bytes + found.start()
        body = piece if self._size_bytes else piece.removeprefix(self.mark)
        self._size_bytes += len(piece)
        return self._decoder.decode(body, final=is_last)


class _CodePagePass(_Pass):
    """A pass that only accepts an encoding in which the decoded text has exactly the same bytes."""

    def __init__(self, encoding: str, first: int, limit: int) -> None:
        super().__init__(encoding, first, limit, is_counted=True)
        self._encoder = codecs.getincrementalencoder(encoding)()
        self._undecoded = b""

    def _decoded(self, piece: bytes, *, is_last: bool) -> str:
        text = super()._decoded(piece, is_last=is_last)
        expected = self._undecoded + piece
        encoded = self._encoder.encode(text, final=is_last)
        self._undecoded = expected[len(encoded) :]
        if not expected.startswith(encoded) or (is_last and self._undecoded):
            raise UnicodeError(f"{self.encoding} does not preserve the bytes")
        return text


async def read_part(files: Files, path: str, shown: str, first: int, limit: int) -> FilePart:
    """Return numbered lines of a large file, with notes on what was left out.

    Raises WorkspaceError for a start beyond the end and for content that is not text.
    """
    head = await files.read_range(path, 0, PROBED_BYTES)
    if head is None:
        raise WorkspaceError(f"The file {shown} no longer exists.", hint="Check what happened to it.")
    mark, encoding = byte_order_mark(head.content)
    if not mark and b"\0" in head.content:
        raise binary_file_error(head.content, head.size_bytes, shown)
    # A larger file cannot be edited, so it needs no digest and is read only up to the last line needed.
    is_counted = head.size_bytes <= MAX_WHOLE_FILE_BYTES
    done = _Pass(encoding, first, limit, mark=mark, is_counted=is_counted)
    try:
        await _run(done, files, path, head.size_bytes)
    except UnicodeDecodeError as error:
        if mark or has_binary_controls(head.content):
            raise binary_file_error(head.content, head.size_bytes, shown) from error
        done = await _guess(done.first_high or 0, files, path, head.size_bytes, (first, limit))
    return _shown(done, path, shown, head.size_bytes, is_counted=is_counted)


async def _guess(first_high: int, files: Files, path: str, size_bytes: int, wanted: tuple[int, int]) -> _Pass:
    """Return the pass with the first likely code page that preserves all bytes."""
    sample = await files.read_range(path, max(0, first_high - SAMPLE_LEAD_BYTES), SAMPLE_BYTES)
    candidates = candidate_encodings(sample.content if sample else b"")
    while encoding := await run_sync(next, candidates, ""):
        try:
            code_page = _CodePagePass(encoding, *wanted)
            await _run(code_page, files, path, size_bytes)
        except (UnicodeError, LookupError):
            continue
        return code_page
    raise WorkspaceError(f"The encoding of {path} could not be detected.", hint="Convert it to UTF-8 first.")


async def _run(work: _Pass, files: Files, path: str, size_bytes: int) -> None:
    """Feed a file to a pass, piece by piece. Raises UnicodeError."""
    async for content, is_last in _pieces(files, path, size_bytes):
        if not await run_sync(partial(work.feed, content, is_last=is_last)):
            return


async def _pieces(files: Files, path: str, size_bytes: int) -> AsyncIterator[tuple[bytes, bool]]:
    """Yield the first `size_bytes` of a file in pieces, each with a flag for the last; a shorter file ends early."""
    start = 0
    while True:
        most = REMOTE_PIECE_BYTES if files.is_remote else PIECE_BYTES
        piece = await files.read_range(path, start, min(most, size_bytes - start))
        content = piece.content if piece else b""
        start += len(content)
        is_last = not content or start >= size_bytes
        yield content, is_last
        if is_last:
            return


def _shown(done: _Pass, path: str, shown: str, size_bytes: int, *, is_counted: bool) -> FilePart:
    collector = done.collector
    pieces, first, count = collector.view.pieces, collector.view.first, collector.count
    if not pieces:
        hint = f"Use an offset from 1 to {count}." if is_counted else "Use a smaller offset."
        raise WorkspaceError(f"{shown} has only {count} lines.", hint=hint)
    following = first + len(pieces)
    notes: list[str] = []
    if done.encoding != "utf-8" or done.mark:
        notes.append(f"[encoded in {done.encoding}{' with a byte-order mark' if done.mark else ''}]")
    if is_counted and (left := count - following + 1) > 0:
        notes.append(f"[{left:,} more lines; continue with offset={following}]")
    if not is_counted and collector.is_full:
        notes.append(f"[a file of {size_bytes:,} bytes; there may be more, from offset={following} on]")
    version = FileVersion(path, done.digest.hexdigest()) if is_counted else None
    return FilePart("\n".join((*pieces, *notes)), tuple(collector.whole_lines), done.encoding, version)
