"""Fill a shadow's first index from the index of the user's own repository, instead of storing every file.

An entry is used only if its file was read and has exactly the content that the entry names. Therefore filters that
convert files, racy timestamps and forged indexes do no harm: such files are stored like any others. The contents stay
in the user's repository until they are copied (`borrowed_objects`). Source: git's own
Documentation/gitformat-index.txt.
"""

import hashlib
import os
import stat
import struct
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct, field

from hermes_acp.core.ports.checkpoint_ports import CheckpointError
from hermes_acp.git.git_index import RawEntry, read_raw_entries
from hermes_acp.git.repository_folders import find_repository_folders
from hermes_acp.storage.checkpoints.atomic_write import checkpoint_io_error, write_atomically
from hermes_acp.storage.checkpoints.git_trees import LINK, PLAIN, PROGRAM, READ_BYTES
from hermes_acp.storage.checkpoints.objects.borrowed_objects import BorrowedObjects
from hermes_acp.storage.checkpoints.repository_scan import WorkspaceWalk, too_many_files
from hermes_acp.storage.checkpoints.shadow_git import ShadowGit
from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits
from hermes_acp.telemetry.secret_files import MAX_BYTES, secret_in

MAX_INDEX_BYTES: Final = 256 << 20
MODES: Final = frozenset(int(mode, 8) for mode in (PLAIN, PROGRAM, LINK))
CHECK_INTERVAL: Final = 256
"""The number of files between two checks of the stop flag."""
UNFINISHED: Final = "index.seed"
_HEAD: Final = struct.Struct(">4sII")
_MAX_32: Final = 0xFFFFFFFF


class IndexSeed(Struct):
    """The entries whose files were checked, in the index's order, and the permission bits of their files."""

    entries: list[RawEntry] = field(default_factory=list[RawEntry])
    modes: dict[bytes, int] = field(default_factory=dict[bytes, int])


def fill_index(git: ShadowGit, base: str, walk: WorkspaceWalk, bounds: SnapshotLimits) -> Mapping[bytes, int]:
    """Write a shadow's missing index from that of the repository `base`; return the permission bits of files.

    Paths are relative to the shadow's folder. Without a usable index, nothing is written. If stopped, the next attempt
    reuses the finished checks. The caller holds the shadow's lock. Raises CheckpointError.
    """
    folders = find_repository_folders(base)
    if folders is None:
        return {}
    inner = os.path.relpath(git.root, base)
    prefix = b"" if inner == "." else os.fsencode(inner) + b"/"
    content, modified_ns = _read_index(folders.index)
    chosen = [
        entry
        for entry in read_raw_entries(content)
        if entry.path.startswith(prefix)
        and entry.is_plain
        and entry.mode in MODES
        and 0 < entry.modified_ns < modified_ns
    ]
    if len(chosen) > bounds.max_files:
        raise too_many_files(git.root, bounds.max_files)
    try:
        seed = _Check(git, walk, bounds, prefix).run(chosen)
        with suppress(FileNotFoundError):
            (git.place / UNFINISHED).unlink()
        held = BorrowedObjects(git).borrow(folders.objects, {entry.oid for entry in seed.entries})
        if held:
            _write_index(git.place / "index", [entry for entry in seed.entries if entry.oid in held])
    except OSError as error:
        raise checkpoint_io_error(git.place, error) from error
    return seed.modes if held else {}


class _Check:
    """Finds the entries whose files have exactly the named content and hold no keys."""

    def __init__(self, git: ShadowGit, walk: WorkspaceWalk, bounds: SnapshotLimits, prefix: bytes) -> None:
        self._git = git
        self._walk = walk
        self._bounds = bounds
        self._prefix = prefix

    def run(self, chosen: list[RawEntry]) -> IndexSeed:
        """Check each entry. Raises CheckpointError if stopped, and OSError."""
        draft = self._git.place / UNFINISHED
        known = {entry.raw for entry in read_raw_entries(_read_index(str(draft))[0])}
        seed, reached = IndexSeed(), dict[bytes, bool]()
        for number, entry in enumerate(chosen):
            if number % CHECK_INTERVAL == 0 and self._git.stop.is_set():
                _write_index(draft, seed.entries)
                raise CheckpointError("The checkpoint was cancelled.")
            path = entry.path[len(self._prefix) :]
            folder = path.rpartition(b"/")[0]
            if folder not in reached:
                reached[folder] = self._walk.takes(path)
            if not reached[folder] or not self._walk.may_contain(path):
                continue
            if self._bounds.holds_keys(os.fsdecode(path)):
                continue
            mode = _mode_of(os.fsencode(self._git.root) + b"/" + path, entry, self._bounds, known)
            if mode is not None:
                seed.entries.append(entry)
                seed.modes[path] = mode
        return seed


def _mode_of(path: bytes, entry: RawEntry, bounds: SnapshotLimits, known: set[bytes]) -> int | None:
    """Return the permission bits of a file that matches its entry, or None."""
    try:
        about = os.lstat(path)
        if not _is_same(about, entry) or about.st_size > bounds.largest_file_bytes:
            return None
        if stat.S_ISLNK(about.st_mode):
            link = os.readlink(path)
            is_module = path.lower().endswith(b"/.gitmodules")
            return 0o644 if not is_module and _names(entry, len(link), (link,)) else None
        if entry.raw in known:
            return stat.S_IMODE(about.st_mode)
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, flags)
    except OSError:
        return None
    try:
        is_right = _holds_what_is_named(descriptor, entry)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return stat.S_IMODE(about.st_mode) if is_right else None


def _is_same(about: os.stat_result, entry: RawEntry) -> bool:
    if entry.mode == int(LINK, 8):
        is_same_kind = stat.S_ISLNK(about.st_mode)
    else:
        mode = int(PROGRAM if about.st_mode & stat.S_IXUSR else PLAIN, 8)
        is_same_kind = stat.S_ISREG(about.st_mode) and mode == entry.mode
    return (
        is_same_kind
        and about.st_mtime_ns == entry.modified_ns
        and about.st_size & _MAX_32 == entry.size_bytes
        and about.st_ino & _MAX_32 == entry.inode
    )


def _holds_what_is_named(descriptor: int, entry: RawEntry) -> bool:
    """Return whether an open file has the content that its entry names and holds no keys."""
    size_bytes = os.fstat(descriptor).st_size
    if size_bytes > MAX_BYTES:
        return _names(entry, size_bytes, _pieces_of(descriptor))
    content = os.read(descriptor, size_bytes + 1)
    return _names(entry, size_bytes, (content,)) and not secret_in(content)


def _pieces_of(descriptor: int) -> Iterator[bytes]:
    while piece := os.read(descriptor, READ_BYTES):
        yield piece


def _names(entry: RawEntry, size_bytes: int, pieces: Iterable[bytes]) -> bool:
    digest = hashlib.sha1(b"blob %d\0" % size_bytes, usedforsecurity=False)
    for piece in pieces:
        digest.update(piece)
    return digest.digest() == entry.oid


def _read_index(path: str) -> tuple[bytes, int]:
    """Return the content of an index and its time of writing; the content is empty if there is no usable index."""
    with suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            about = os.fstat(descriptor)
            if stat.S_ISREG(about.st_mode) and about.st_size <= MAX_INDEX_BYTES:
                return file.read(MAX_INDEX_BYTES), about.st_mtime_ns
    return b"", 0


def _write_index(path: Path, entries: list[RawEntry]) -> None:
    parts = [_HEAD.pack(b"DIRC", 2, len(entries))]
    for entry in entries:
        flags = min(len(entry.path), 0xFFF).to_bytes(2, "big")
        size_bytes = len(entry.raw) + 2 + len(entry.path)
        parts += (entry.raw, flags, entry.path, b"\0" * (8 - size_bytes % 8))
    content = b"".join(parts)
    write_atomically(path, content + hashlib.sha1(content, usedforsecurity=False).digest())
