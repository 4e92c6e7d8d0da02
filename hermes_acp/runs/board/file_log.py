"""A board's log in a file: appended under a lock, synced to disk, and readable after any interruption.

A line that a killed process left incomplete is cut off before the next append and stored next to the log. Damaged lines
are skipped.
"""

import fcntl
import os
import time
from collections.abc import AsyncGenerator, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
from anyio import CapacityLimiter
from anyio.to_thread import run_sync

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.boards.card_events import Draft, LogEntry
from hermes_acp.core.ports.boards.cards import BOARD_NAME
from hermes_acp.runs.board.board_rules import check_board_name, no_board
from hermes_acp.runs.board.log_lines import decode_line, encode_line, whole_lines
from hermes_acp.storage.disk_sync import sync_content
from hermes_acp.storage.private_files import private_folder, storage_error, sync_folder

MIN_POLL_INTERVAL_S: Final = 0.05
MAX_POLL_INTERVAL_S: Final = 1.0
TAIL_BYTES: Final = 64 * 1024
LOG_NAME: Final = "log.jsonl"


class FileBoardLog:
    """The log of one board."""

    def __init__(self, path: Path) -> None:
        """Store the path; nothing is opened yet."""
        self._path = path
        self._limiter: CapacityLimiter | None = None

    async def read(self, after: int = 0) -> Sequence[LogEntry]:
        """Return the entries after the given number, oldest first. Raises StorageError or BadRequest."""
        return await run_sync(self._read, after)

    async def append(self, drafts: Sequence[Draft], *, expected: int, at: float) -> Sequence[LogEntry] | None:
        """Append entries after entry `expected`; return None if that is not the last one. Raises StorageError."""
        if self._limiter is None:
            self._limiter = CapacityLimiter(1)
        return await run_sync(self._append, drafts, expected, at, limiter=self._limiter)

    async def wait(self, after: int) -> None:
        """Wait until the file may have an entry after the given number. The polling interval grows."""
        size = self._size()
        if await self.read(after):
            return
        pause_s = MIN_POLL_INTERVAL_S
        while self._size() == size:
            await anyio.sleep(pause_s)
            pause_s = min(pause_s * 2, MAX_POLL_INTERVAL_S)

    @asynccontextmanager
    async def handing_over(self) -> AsyncGenerator[list[tuple[int, str]]]:
        """Yield the numbers and lines of all entries while nobody can append; afterwards, move the log aside.

        If the block fails, the log stays in place. Raises BadRequest or StorageError.
        """
        with ExitStack() as locked:
            descriptor = await run_sync(locked.enter_context, self._locked())
            content = await run_sync(_content, descriptor)
            yield [
                (entry.number, bytes(line).decode().rstrip("\n")) for line, entry in _decoded_lines(content)
            ]
            aside = self._path.with_name(f"imported-{time.strftime('%Y%m%d-%H%M%S')}.jsonl")
            try:
                self._path.rename(aside)
                sync_folder(aside.parent)
            except OSError as error:
                raise storage_error("set aside the log", self._path, error) from error

    def _size(self) -> int:
        try:
            return self._path.stat().st_size
        except OSError:
            return -1

    def _read(self, after: int) -> list[LogEntry]:
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError as error:
            raise no_board(self._path.parent.name) from error
        except OSError as error:
            raise storage_error("read the board", self._path, error) from error
        try:
            return _entries_after(descriptor, after)
        except OSError as error:
            raise storage_error("read the board", self._path, error) from error
        finally:
            os.close(descriptor)

    def _append(self, drafts: Sequence[Draft], expected: int, at: float) -> list[LogEntry] | None:
        with self._locked() as descriptor:
            end = _whole_size(descriptor)
            self._keep_torn(descriptor, end)
            last = _last_number(descriptor)
            if last != expected:
                return None
            entries = [
                LogEntry(expected + place, at, draft.by, draft.event) for place, draft in enumerate(drafts, 1)
            ]
            lines = b"".join(encode_line(each.number, each.at, each.by, each.event) for each in entries)
            try:
                _write_all(descriptor, lines)
                sync_content(descriptor)
            except OSError as error:
                os.ftruncate(descriptor, end)
                raise storage_error("write to the board", self._path, error) from error
            return entries

    @contextmanager
    def _locked(self) -> Generator[int]:
        """Open the file and hold its lock. Raises BadRequest or StorageError."""
        while True:
            try:
                descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW)
            except FileNotFoundError as error:
                raise no_board(self._path.parent.name) from error
            except OSError as error:
                raise storage_error("open the board", self._path, error) from error
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if _is_at(self._path, descriptor):
                    yield descriptor
                    return
            finally:
                os.close(descriptor)

    def _keep_torn(self, descriptor: int, end: int) -> None:
        """Cut off an incomplete last line, and store it next to the log."""
        size = os.fstat(descriptor).st_size
        if size == end:
            return
        torn = os.pread(descriptor, size - end, end)
        kept = self._path.with_name(f"torn-{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(3).hex()}.txt")
        try:
            kept.write_bytes(torn)
            os.ftruncate(descriptor, end)
        except OSError as error:
            raise storage_error("repair the board", self._path, error) from error


class FileBoardLogs:
    """The boards in a folder, each of which is a folder with its log."""

    is_shared = False

    def __init__(self, folder: Path) -> None:
        """Store the path without creating anything."""
        self.folder = folder

    async def names(self) -> Sequence[str]:
        """Return the names of all boards, sorted."""
        return await run_sync(self._names)

    async def create(self, name: str) -> bool:
        """Create a board; return False if it already exists. Raises BadRequest or StorageError."""
        return await run_sync(self._create, name)

    async def remove(self, name: str) -> None:
        """Move a board's folder to `.removed`. Raises BadRequest or StorageError."""
        await run_sync(self._remove, name)

    def open(self, name: str) -> FileBoardLog:
        """Return a board's log. Raises BadRequest."""
        return FileBoardLog(self.place(name) / LOG_NAME)

    async def wait(self, known: Mapping[str, int], ignored: Collection[str] = ()) -> None:
        """Wait until a board is new or may have an entry after its number. The files are checked once a second."""
        sizes = await run_sync(self._sizes, ignored)
        if sizes.keys() != known.keys():
            return
        for name, number in known.items():
            try:
                if await self.open(name).read(number):
                    return
            except BadRequest:  # the board was removed in the meantime
                return
        while self._sizes(ignored) == sizes:  # a few system calls, which are cheaper than waking a thread
            await anyio.sleep(MAX_POLL_INTERVAL_S)

    async def aclose(self) -> None:
        """Return at once, because nothing stays open."""

    def place(self, name: str) -> Path:
        """Return a board's folder. Raises BadRequest."""
        check_board_name(name)
        return self.folder / name

    def _names(self) -> list[str]:
        try:
            found = [each.name for each in os.scandir(self.folder) if BOARD_NAME.fullmatch(each.name)]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise storage_error("list the boards in", self.folder, error) from error
        return sorted(name for name in found if (self.folder / name / LOG_NAME).is_file())

    def _sizes(self, ignored: Collection[str]) -> dict[str, int]:
        """Return the size of each board's log."""
        sizes: dict[str, int] = {}
        for name in self._names():
            if name not in ignored:
                with suppress(OSError):
                    sizes[name] = (self.folder / name / LOG_NAME).stat().st_size
        return sizes

    def _create(self, name: str) -> bool:
        place = private_folder(self.place(name))
        path = place / LOG_NAME
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
            os.close(descriptor)
            sync_folder(place)
        except FileExistsError:
            return False
        except OSError as error:
            raise storage_error("create the board", path, error) from error
        return True

    def _remove(self, name: str) -> None:
        place = self.place(name)
        if not (place / LOG_NAME).is_file():
            raise no_board(name)
        archive_board(self.folder, name)


def archive_board(folder: Path, name: str) -> None:
    """Move a board's files, if any, to `.removed`. Blocks. Raises StorageError."""
    place = folder / name
    aside = private_folder(folder / ".removed")
    try:
        place.rename(aside / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(3).hex()}")
    except FileNotFoundError:
        return
    except OSError as error:
        raise storage_error("remove the board", place, error) from error


def _is_at(path: Path, descriptor: int) -> bool:
    """Return whether the path still refers to the open file."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False


def _write_all(descriptor: int, content: bytes) -> None:
    view = memoryview(content)
    while view:
        view = view[os.write(descriptor, view) :]


def _whole_size(descriptor: int) -> int:
    """Return the offset at which the last complete line ends."""
    size = os.fstat(descriptor).st_size
    end = size
    while end > 0:
        begin = max(0, end - TAIL_BYTES)
        found = os.pread(descriptor, end - begin, begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


def _last_number(descriptor: int) -> int:
    """Return the number of the last entry, or 0."""
    for tail in _tails(descriptor):
        numbers = [entry.number for entry in _decoded(tail)]
        if numbers:
            return numbers[-1]
    return 0


def _entries_after(descriptor: int, after: int) -> list[LogEntry]:
    """Return the entries after the given number, reading the file from its end."""
    found: list[LogEntry] = []
    for tail in _tails(descriptor) if after else (_content(descriptor),):
        found = _decoded(tail)
        if found and found[0].number <= after + 1:
            break
    return [entry for entry in found if entry.number > after]


def _tails(descriptor: int) -> Iterator[bytes]:
    """Yield increasingly large tails of a file, each starting at a line; the last one is the whole file."""
    size, length = os.fstat(descriptor).st_size, TAIL_BYTES
    while length < size:
        tail = os.pread(descriptor, length, size - length)
        first = tail.find(b"\n")
        if first >= 0:
            yield tail[first + 1 :]
        length *= 4
    yield _content(descriptor)


def _content(descriptor: int) -> bytes:
    size = os.fstat(descriptor).st_size
    parts: list[bytes] = []
    while size > 0 and (part := os.pread(descriptor, size, sum(map(len, parts)))):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _decoded(content: bytes) -> list[LogEntry]:
    """Return the entries in all complete and undamaged lines."""
    return [entry for _, entry in _decoded_lines(content)]


def _decoded_lines(content: bytes) -> Iterator[tuple[memoryview, LogEntry]]:
    """Yield all complete and undamaged lines with their entries, skipping entries whose number does not increase."""
    last = 0
    for line, _ in whole_lines(content):
        entry = decode_line(line)
        if entry and entry.number > last:
            last = entry.number
            yield line, entry
