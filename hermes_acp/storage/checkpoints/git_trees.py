"""The state of a file, and the parsing of such states from `ls-tree`, `diff-tree` and `ls-files` output.

Paths are bytes, relative to the workspace, since names on disk may not be text. Source: git-diff-tree(1),
git-ls-files(1); an object's name is the SHA-1 hash of its header and content.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from typing import Final, Literal

from msgspec import Struct

PLAIN: Final = "100644"
PROGRAM: Final = "100755"
LINK: Final = "120000"
NOTHING: Final = "000000"
PIPE: Final = "010000"
"""Mode of pipes and sockets, which have no content and which git does not track."""
USUAL_FOLDER: Final = 0o755
"""A folder's usual permission bits, which are not recorded."""
READ_BYTES: Final = 1 << 20


class FileState(Struct, frozen=True):
    """A file, program or link: its mode and the object name of its content."""

    mode: str
    oid: str


class UnknownState(Struct, frozen=True):
    """Something that cannot be compared: a non-empty folder, a device, or anything unreadable."""

    why: str


class TreeDifference(Struct, frozen=True):
    """One path in two trees; None if it is missing in one. `old_path` is the source of a rename."""

    path: bytes
    before: FileState | None
    after: FileState | None
    old_path: bytes = b""

    @property
    def change(self) -> Literal["added", "modified", "deleted", "renamed"]:
        """The kind of change, as one word."""
        if self.old_path:
            return "renamed"
        if self.before is None:
            return "added"
        return "deleted" if self.after is None else "modified"


class GitListing(Struct):
    """Paths that `ls-files -t` reports as changed since the index was written. `folders` have no trailing slash."""

    changed: list[bytes]
    fresh: list[bytes]
    folders: list[bytes]


def read_listing(output: bytes) -> GitListing:
    """Parse the lines of `ls-files -z -t -o -m -d --directory`."""
    changed: dict[bytes, None] = {}
    fresh: list[bytes] = []
    folders: list[bytes] = []
    for line in output.split(b"\0"):
        tag, path = line[:1], line[2:]
        if not path:
            continue
        if tag != b"?":
            changed[path] = None
        elif path.endswith(b"/"):
            folders.append(path[:-1])
        else:
            fresh.append(path)
    return GitListing(list(changed), fresh, folders)


def read_differences(output: bytes) -> Iterator[TreeDifference]:
    """Parse the lines of `diff-tree -r -z --raw --no-abbrev`, with or without renames."""
    fields = iter(output.split(b"\0"))
    for field in fields:
        if not field.startswith(b":"):
            continue
        old_mode, new_mode, old_oid, new_oid, status = field[1:].decode("ascii").split(" ")
        path = next(fields)
        old_path = b""
        if status[:1] in ("R", "C"):
            old_path, path = path, next(fields)
        before = None if old_mode == NOTHING else FileState(old_mode, old_oid)
        after = None if new_mode == NOTHING else FileState(new_mode, new_oid)
        yield TreeDifference(path, before, after, old_path)


def read_entries(output: bytes) -> Iterator[tuple[bytes, FileState]]:
    """Parse the lines of `ls-tree -z`."""
    for line in output.split(b"\0"):
        about, _, path = line.partition(b"\t")
        if path:
            mode, _, oid = about.decode("ascii").split(" ")
            yield path, FileState(mode, oid)


def blob_name(content: bytes) -> str:
    """Return the object name of a file content."""
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def state_of(name: bytes, folder: int | None = None) -> FileState | UnknownState | None:
    """Return the state of a path on disk without following links; it is relative to the descriptor `folder`, if given.

    An empty folder counts as missing, because git does not track it.
    """
    try:
        about = os.lstat(name, dir_fd=folder)
        if stat.S_ISLNK(about.st_mode):
            return FileState(LINK, blob_name(os.readlink(name, dir_fd=folder)))
        if stat.S_ISDIR(about.st_mode):
            return UnknownState("there is a folder at that path") if _holds_something(name, folder) else None
        if stat.S_ISFIFO(about.st_mode) or stat.S_ISSOCK(about.st_mode):
            return FileState(PIPE, "")
        if not stat.S_ISREG(about.st_mode):
            return UnknownState("it is not a file")
        return _state_of_file(name, folder)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        return UnknownState(f"it cannot be read: {error.strerror}")


def _holds_something(name: bytes, folder: int | None) -> bool:
    descriptor = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        with os.scandir(descriptor) as entries:
            return next(entries, None) is not None
    finally:
        os.close(descriptor)


def _state_of_file(name: bytes, folder: int | None) -> FileState | UnknownState:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    with os.fdopen(os.open(name, flags, dir_fd=folder), "rb", buffering=0) as file:
        about = os.fstat(file.fileno())
        digest = hashlib.sha1(b"blob %d\0" % about.st_size, usedforsecurity=False)
        seen_bytes = 0
        while piece := file.read(READ_BYTES):
            seen_bytes += len(piece)
            digest.update(piece)
    if seen_bytes != about.st_size:
        return UnknownState("it is being written")
    return FileState(PROGRAM if about.st_mode & stat.S_IXUSR else PLAIN, digest.hexdigest())


def parents_of(path: bytes) -> Iterator[bytes]:
    """Yield every folder above a path, innermost first, except the workspace itself."""
    while b"/" in path:
        path = path.rpartition(b"/")[0]
        yield path
