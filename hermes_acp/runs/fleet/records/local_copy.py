"""The copy of a shared record on this machine, and how it is updated.

Each line of a record is chained to all lines before it (`storage.record_lines`), so two copies with the same line
ending at an offset are identical up to that offset.
"""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from hermes_acp.storage.disk_sync import sync_file
from hermes_acp.storage.private_files import lock_or_busy, private_folder, storage_error, unlock_and_close

LAST_LINE_BYTES: Final = 4096
"""How many bytes at the end of a record are read first to find its last line."""
ReadShared = Callable[[int], bytes]
"""A function that returns the shared record's bytes from an offset to the end."""


class LocalCopy:
    """A local copy that this process has locked."""

    def __init__(self, path: Path) -> None:
        """Store the path of a copy, which need not exist yet."""
        self.path = path

    @property
    def size_bytes(self) -> int:
        """The size of the copy, or 0 if it does not exist."""
        try:
            return self.path.stat().st_size
        except FileNotFoundError:
            return 0

    def read(self, start: int, end: int) -> bytes:
        """Return the bytes from `start` to `end`. Raises StorageError."""
        try:
            with self.path.open("rb") as file:
                file.seek(start)
                return file.read(end - start)
        except FileNotFoundError:
            return b""
        except OSError as error:
            raise storage_error("read the session record", self.path, error) from error

    def update(self, shared_bytes: int, read_shared: ReadShared) -> int:
        """Update the copy from the shared record; return the length up to which both are the same.

        Lines that are only in this copy stay if they follow the whole shared record; otherwise, they are moved to
        `NAME.torn`. Blocks. Raises StorageError.
        """
        ends_at = min(self.size_bytes, shared_bytes)
        tail = self._last_line(ends_at) if ends_at else b""
        shared = read_shared(ends_at - len(tail)) if shared_bytes else b""
        if (tail or not ends_at) and shared.startswith(tail):
            self.append(shared[len(tail) :])
            return shared_bytes
        return self._replace(read_shared(0))

    def append(self, content: bytes) -> None:
        """Append to the copy. Raises StorageError."""
        if content:
            try:
                descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
                with os.fdopen(descriptor, "ab") as file:
                    file.write(content)
                    file.flush()
                    sync_file(file.fileno())
            except OSError as error:
                raise storage_error("write to the session record", self.path, error) from error

    def _last_line(self, end: int) -> bytes:
        """Return the last whole line before an offset; empty if no line ends there."""
        length = LAST_LINE_BYTES
        while True:
            content = self.read(max(0, end - length), end)
            if not content.endswith(b"\n"):
                return b""
            begins = content.rfind(b"\n", 0, -1) + 1
            if begins or length >= end:
                return content[begins:]
            length *= 4

    def _replace(self, shared: bytes) -> int:
        """Replace the copy with the shared record from the offset at which they differ."""
        own = self.read(0, self.size_bytes)
        same = _same_lines(own, shared)
        try:
            with self.path.with_suffix(".torn").open("ab") as kept:
                kept.write(own[same:])
                kept.flush()
                sync_file(kept.fileno())
            os.truncate(self.path, same)
        except OSError as error:
            raise storage_error("repair the session record", self.path, error) from error
        self.append(shared[same:])
        return len(shared)


def _same_lines(one: bytes, other: bytes) -> int:
    """Return the length of the whole lines that two records have in common at the start."""
    length = 0
    for line, other_line in zip(one.split(b"\n")[:-1], other.split(b"\n")[:-1], strict=False):
        if line != other_line:
            break
        length += len(line) + 1
    return length


def update_unlocked(path: Path, shared_bytes: int, read_shared: ReadShared) -> None:
    """Update a copy that no process on this machine has open. Blocks. Raises Busy or StorageError."""
    private_folder(path.parent)
    is_new = not path.exists()
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise storage_error("open the session record", path, error) from error
    try:
        lock_or_busy(descriptor, f"Session {path.stem!r}")
        LocalCopy(path).update(shared_bytes, read_shared)
    except BaseException:
        if is_new:
            with suppress(OSError):
                path.unlink()
        raise
    finally:
        unlock_and_close(descriptor)
