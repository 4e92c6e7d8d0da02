"""Read which files a git repository tracks from its index: versions 2 to 4, including split indexes.

Sources: git's own Documentation/gitformat-index.txt and gitrepository-layout(5).
"""

import os
import struct
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from hermes_acp.git.small_files import MAX_TEXT_BYTES, read_small_file
from hermes_acp.git.work_tree import find_work_tree

MAX_BYTES: Final = 64 << 20
MAX_SHARED_INDEXES: Final = 20
_HEAD: Final = struct.Struct(">4sII")
_ENTRY_BYTES: Final = 62
_EXTENDED: Final = 0x4000
_NAME_LENGTH: Final = 0xFFF
_SPLIT: Final = b"link"


class IndexEntry(Struct, frozen=True):
    """A tracked path (absolute), with the time and size that the file had when git last checked it."""

    path: str
    modified_ns: int
    size_bytes: int


class RawEntry(Struct, frozen=True):
    """An index entry: its path relative to the top folder, its flags, and 60 bytes with file state and object name."""

    path: bytes
    raw: bytes
    flags: int

    @property
    def is_plain(self) -> bool:
        """Whether the entry is not in conflict, assumed unchanged, skipped, or merely intended to be added."""
        return not self.flags & ~_NAME_LENGTH

    @property
    def mode(self) -> int:
        """The mode of the file."""
        return int.from_bytes(self.raw[24:28], "big")

    @property
    def oid(self) -> bytes:
        """The object name of its content."""
        return self.raw[40:60]

    @property
    def modified_ns(self) -> int:
        """The modification time of the file, in nanoseconds since the epoch."""
        return int.from_bytes(self.raw[8:12], "big") * 10**9 + int.from_bytes(self.raw[12:16], "big")

    @property
    def size_bytes(self) -> int:
        """The size of the file, modulo 2**32."""
        return int.from_bytes(self.raw[36:40], "big")

    @property
    def inode(self) -> int:
        """The inode of the file, modulo 2**32."""
        return int.from_bytes(self.raw[20:24], "big")


class GitIndex(Struct, frozen=True):
    """The index of the work tree `top`, as the raw bytes of its files; `modified_ns` is when it was last written."""

    top: str
    contents: tuple[bytes, ...]
    modified_ns: int

    def entries(self) -> Iterator[IndexEntry]:
        """Yield the tracked entries that can be parsed."""
        for content in self.contents:
            yield from _entries(content, self.top)


def _git_folder(top: str) -> str:
    """Return the git directory of a work tree."""
    inner = os.path.join(top, ".git")
    if os.path.isfile(inner):
        told = (read_small_file(inner, MAX_TEXT_BYTES) or b"").decode("utf-8", "replace").strip()
        inner = os.path.join(top, told.removeprefix("gitdir:").strip())
    return os.path.realpath(inner)


def read_index(cwd: str) -> GitIndex | None:
    """Read the index of the repository that contains a folder; return None if it is too large or not a file."""
    top = find_work_tree(cwd)
    if top is None:
        return GitIndex(cwd, (), 0)
    folder = _git_folder(top)
    path = os.path.join(folder, "index")
    content = read_small_file(path, MAX_BYTES)
    if content is None:
        return None
    contents = [content] if content else []
    if b"link" in content:
        try:
            names = sorted(name for name in os.listdir(folder) if name.startswith("sharedindex."))
        except OSError:
            return None
        for name in names[:MAX_SHARED_INDEXES]:
            shared = read_small_file(os.path.join(folder, name), MAX_BYTES)
            if shared is None:
                return None
            contents.append(shared)
    try:
        modified_ns = os.stat(path).st_mtime_ns
    except OSError:
        modified_ns = 0
    return GitIndex(top, tuple(contents), modified_ns)


def _entries(content: bytes, top: str) -> Iterator[IndexEntry]:
    for entry in _parsed(content)[0]:
        yield IndexEntry(os.path.join(top, os.fsdecode(entry.path)), entry.modified_ns, entry.size_bytes)


def read_raw_entries(content: bytes) -> list[RawEntry]:
    """Return the entries of an index; empty if the index is split."""
    entries, end = _parsed(content)
    return [] if content[end : end + 4] == _SPLIT else entries


def _parsed(content: bytes) -> tuple[list[RawEntry], int]:
    """Return the entries that can be parsed, and the offset where they end."""
    entries: list[RawEntry] = []
    if len(content) < _HEAD.size:
        return entries, 0
    mark, version, count = _HEAD.unpack_from(content)
    if mark != b"DIRC" or version not in (2, 3, 4):
        return entries, 0
    at, name = _HEAD.size, b""
    for _ in range(count):
        if at + _ENTRY_BYTES > len(content):
            break
        flags = int.from_bytes(content[at + 60 : at + 62], "big")
        begin = at + _ENTRY_BYTES + (2 if flags & _EXTENDED else 0)
        if version == 4:
            cut, begin = _variable(content, begin)
            name = name[: len(name) - cut]
        end = content.find(b"\0", begin)
        if end < 0:
            break
        name = (name if version == 4 else b"") + content[begin:end]
        entries.append(RawEntry(name, content[at : at + 60], flags))
        at = end + 1 if version == 4 else at + ((end - at) // 8 + 1) * 8
    return entries, at


def _variable(content: bytes, at: int) -> tuple[int, int]:
    """Decode an integer in git's variable-length encoding; return it with the next offset."""
    value = content[at] & 0x7F if at < len(content) else 0
    while at < len(content) and content[at] & 0x80:
        at += 1
        value = ((value + 1) << 7) | (content[at] & 0x7F if at < len(content) else 0)
    return value, at + 1


def object_name_in(index: bytes, path: str) -> bytes:
    """Return the object name of a path in a version 2 or 3 index, or an empty string if it has none.

    This searches the raw bytes, which is a thousand times faster than decoding the entries.
    """
    if index[:4] != b"DIRC" or index[4:8] not in (b"\0\0\0\2", b"\0\0\0\3"):
        return b""
    name = os.fsencode(path)
    at = index.find(name + b"\0", _ENTRY_BYTES)
    while at >= 0:
        flags = int.from_bytes(index[at - 2 : at], "big")
        if not flags & _EXTENDED and flags & _NAME_LENGTH == min(len(name), _NAME_LENGTH):
            return index[at - 22 : at - 2]
        at = index.find(name + b"\0", at + 1)
    return b""
