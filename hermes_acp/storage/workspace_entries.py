"""The user's settings for individual workspaces, in one private file in the home folder.

The file has one list of entries per workspace, is read again when it changes, and is written atomically under a
lock. An unreadable file grants nothing; it is copied before it is overwritten.
"""

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final, Generic, TypeVar

import msgspec

from hermes_acp.core.errors import StorageError
from hermes_acp.storage.file_locks import file_lock
from hermes_acp.storage.private_files import storage_error, write_whole

Entry = TypeVar("Entry", bound=msgspec.Struct)
MAX_BYTES: Final = 16 << 20


class WorkspaceEntries(Generic[Entry]):
    """The entries of all workspaces; a workspace is identified by its resolved folder."""

    def __init__(self, path: Path, kind: type[Entry]) -> None:
        self.path = path
        self._shape = dict[str, tuple[kind, ...]]
        self._seen: tuple[int, int, int] | None = None
        self._pages: Mapping[str, tuple[Entry, ...]] = {}

    def of(self, place: str) -> tuple[Entry, ...]:
        """Return the entries of the workspace."""
        return self.all().get(place, ())

    def all(self) -> Mapping[str, tuple[Entry, ...]]:
        """Return the entries of every workspace."""
        try:
            about = self.path.stat()
        except OSError:
            self._seen, self._pages = None, {}
            return self._pages
        mark = (about.st_mtime_ns, about.st_size, about.st_ino)
        if mark != self._seen:
            self._pages = self._read() or {}
            self._seen = mark
        return self._pages

    def change(self, place: str, edit: Callable[[tuple[Entry, ...]], Iterable[Entry]]) -> None:
        """Change a workspace's entries. A workspace without entries is removed. Raises StorageError."""
        with file_lock(self.path.with_suffix(".lock")):
            try:
                self._write(place, edit)
            except OSError as error:
                raise storage_error("write", self.path, error) from error

    def _write(self, place: str, edit: Callable[[tuple[Entry, ...]], Iterable[Entry]]) -> None:
        pages = self._read()
        if pages is None and self.path.exists():
            os.replace(self.path, self.path.with_suffix(".unreadable"))
        pages = dict(pages or {})
        entries = tuple(dict.fromkeys(edit(pages.pop(place, ()))))
        if entries:
            pages[place] = entries
        content = msgspec.json.format(msgspec.json.encode(pages), indent=1) + b"\n"
        if len(content) > MAX_BYTES:
            raise StorageError(
                f"{self.path} would have more than {MAX_BYTES:,} bytes.", hint="Remove some entries first."
            )
        write_whole(self.path, content, mode=0o600)
        self._seen = None

    def _read(self) -> Mapping[str, tuple[Entry, ...]] | None:
        """Read the file; return None if it is invalid."""
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
            with open(descriptor, "rb") as file:
                content = file.read(MAX_BYTES + 1)
            return msgspec.json.decode(content, type=self._shape)
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.MsgspecError, RecursionError):
            return None
