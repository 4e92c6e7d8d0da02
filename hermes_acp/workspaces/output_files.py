"""The private folder that stores a session's long outputs in full."""

import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import Final

MAX_BYTES: Final = 256 * 1024 * 1024
MAX_FILES: Final = 32


class OutputFile:
    """One output as it arrived, up to a size limit; a full disk only stops the recording, not the command."""

    def __init__(self, path: str, file: int, largest_bytes: int) -> None:
        self.path = path
        self.size_bytes = 0
        self.is_whole = True
        self._file = file
        self._room = largest_bytes

    def write(self, piece: bytes | bytearray) -> None:
        """Append as much of the piece as there is room for."""
        room = self._room - self.size_bytes
        rest = memoryview(piece)[:room]
        self.is_whole = self.is_whole and len(piece) <= room and self._file >= 0
        while rest and self._file >= 0:
            try:
                written = os.write(self._file, rest)
            except OSError:
                self.is_whole = False
                self.close()
                return
            self.size_bytes += written
            rest = rest[written:]

    def close(self) -> None:
        """Close the file; nothing more is written."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


class OutputFolder:
    """Creates files for outputs, in a folder that only this user can enter; the oldest are deleted to make room.

    Thread-safe. `on_made` receives the folder's path when it is created.
    """

    def __init__(self, temporary: str, on_made: Callable[[str], None] | None = None) -> None:
        """Initialise without creating anything; `temporary` is the parent of temporary folders."""
        self.path = ""
        self._temporary = temporary
        self._on_made = on_made
        self._files: list[str] = []
        self._is_gone = False

    def paths(self) -> tuple[str, ...]:
        """Return the folder, if it exists yet."""
        return (self.path,) if self.path else ()

    def fresh(self, name: str) -> OutputFile | None:
        """Start a file for one output; return None on disk errors or if everything was removed."""
        if self._is_gone:
            return None
        path = os.path.join(self._made(), f"{name}.txt") if self._made() else ""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            file = os.open(path, flags, stat.S_IRUSR | stat.S_IWUSR)
        except OSError:
            return None
        self._files.append(path)
        for oldest in self._files[:-MAX_FILES]:
            self._files.remove(oldest)
            with suppress(OSError):
                os.unlink(oldest)
        return OutputFile(path, file, MAX_BYTES)

    def folder(self, name: str) -> str:
        """Return a private folder with the given name next to the outputs. Raises OSError."""
        path = os.path.join(self._made(), name)
        os.makedirs(path, mode=stat.S_IRWXU, exist_ok=True)
        return path

    def _made(self) -> str:
        if not self.path:
            with suppress(OSError):
                self.path = os.path.realpath(tempfile.mkdtemp(prefix="hermes-acp-", dir=self._temporary))
                if self._on_made:
                    self._on_made(self.path)
        return self.path

    def remove(self) -> None:
        """Remove the folder and everything in it. Blocks."""
        self._is_gone = True
        if self.path:
            shutil.rmtree(self.path, ignore_errors=True)
        self.path = ""
