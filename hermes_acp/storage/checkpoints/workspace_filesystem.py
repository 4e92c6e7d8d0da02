"""Access a workspace on disk only through descriptors, so that links cannot lead out of it.

Every component of a path is opened without following links: a path through a link does not exist. Paths are
bytes, relative to the workspace. Source: openat(2), O_NOFOLLOW.
"""

import errno
import fcntl
import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

from hermes_acp.storage.checkpoints.git_trees import (
    LINK,
    PROGRAM,
    FileState,
    UnknownState,
    parents_of,
    state_of,
)

FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
DRAFT: Final = b".hermes-"
NOT_REACHABLE: Final = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class WorkspaceFilesystem:
    """A workspace folder that is open within a `with` block."""

    def __init__(self, root: str) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._swept: set[bytes] = set()

    def close(self) -> None:
        """Close the folder."""
        os.close(self._root)

    def state(self, path: bytes) -> FileState | UnknownState | None:
        """Return the state of a path, or None if it is missing or reached only through a link."""
        try:
            with self._parent(path) as (folder, name):
                return state_of(name, folder)
        except OSError as error:
            return (
                None if error.errno in NOT_REACHABLE else UnknownState(f"it cannot be read: {error.strerror}")
            )

    def open_file(self, path: bytes) -> int | bytes | None:
        """Open a file for reading and return its descriptor, or a link's target, or None if neither exists.

        Raises OSError if it cannot be read.
        """
        try:
            with self._parent(path) as (folder, name):
                if stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode):
                    return os.readlink(name, dir_fd=folder)
                return os.open(name, READ, dir_fd=folder)
        except OSError as error:
            if error.errno not in NOT_REACHABLE:
                raise
            return None

    @contextmanager
    def _parent(self, path: bytes, *, makes: bool = False) -> Generator[tuple[int, bytes]]:
        """Open the parent folder of a path. Raises OSError if it is missing and not created."""
        *folders, name = path.split(b"/")
        descriptor = os.dup(self._root)
        try:
            for folder in folders:
                if makes:
                    with suppress(FileExistsError):
                        os.mkdir(folder, dir_fd=descriptor)
                inner = os.open(folder, FOLDER, dir_fd=descriptor)
                os.close(descriptor)
                descriptor = inner
            yield descriptor, name
        finally:
            os.close(descriptor)

    def put(self, path: bytes, state: FileState, content: bytes, mode: int | None) -> None:
        """Write a file or link atomically, creating parent folders. Raises OSError.

        `mode` is the file's former permission bits, if known. Otherwise an existing file keeps its own. An empty folder
        is replaced.
        """
        with self._parent(path, makes=True) as (folder, name):
            self._sweep(path, folder)
            draft = DRAFT + os.urandom(8).hex().encode()
            try:
                if state.mode == LINK:
                    os.symlink(content, draft, dir_fd=folder)
                else:
                    known = _mode_at(name, folder) if mode is None else mode
                    _write(draft, folder, content, known, state)
                if _is_folder(name, folder):
                    os.rmdir(name, dir_fd=folder)
                os.replace(draft, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(draft, dir_fd=folder)
                raise

    def _sweep(self, path: bytes, folder: int) -> None:
        """Remove temporary files that a killed process left in a folder, once per folder."""
        where = path.rpartition(b"/")[0]
        if where in self._swept:
            return
        self._swept.add(where)
        with os.scandir(folder) as entries:
            drafts = [os.fsencode(each.name) for each in entries if each.name.startswith(os.fsdecode(DRAFT))]
        for name in drafts:
            if re.fullmatch(DRAFT + b"[0-9a-f]{16}", name) and _is_abandoned(name, folder):
                with suppress(OSError):
                    os.unlink(name, dir_fd=folder)

    def remove(self, path: bytes) -> None:
        """Delete a file or link if it exists. Raises OSError."""
        try:
            with self._parent(path) as (folder, name):
                os.unlink(name, dir_fd=folder)
        except OSError as error:
            if error.errno not in NOT_REACHABLE:
                raise

    def clear(self, path: bytes, spared: frozenset[bytes]) -> None:
        """Remove the empty folders above a path, up to the first one that is not empty or is in `spared`."""
        for folder in parents_of(path):
            if folder in spared or not self.drop_folder(folder):
                return

    def drop_folder(self, path: bytes) -> bool:
        """Remove an empty folder, and return whether it no longer exists."""
        try:
            with self._parent(path) as (folder, name):
                os.rmdir(name, dir_fd=folder)
        except OSError as error:
            return error.errno == errno.ENOENT
        return True

    def make_folder(self, path: bytes) -> None:
        """Create a folder and its parents, if missing."""
        with suppress(OSError), self._parent(path + b"/.", makes=True):
            return

    def folder_mode(self, path: bytes) -> int | None:
        """Return a folder's permission bits, or None if there is no such folder."""
        try:
            with self._parent(path + b"/.") as (folder, _):
                return stat.S_IMODE(os.fstat(folder).st_mode)
        except OSError:
            return None

    def set_folder_mode(self, path: bytes, mode: int) -> None:
        """Set a folder's permission bits if permitted. A missing folder is skipped."""
        with suppress(OSError), self._parent(path) as (folder, name):
            inner = os.open(name, os.O_RDONLY | FOLDER, dir_fd=folder)
            try:
                os.fchmod(inner, mode)
            finally:
                os.close(inner)


def _mode_at(name: bytes, folder: int) -> int | None:
    try:
        about = os.lstat(name, dir_fd=folder)
    except FileNotFoundError:
        return None
    return stat.S_IMODE(about.st_mode) if stat.S_ISREG(about.st_mode) else None


def _is_folder(name: bytes, folder: int) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(name, dir_fd=folder).st_mode)
    except FileNotFoundError:
        return False


def _is_abandoned(name: bytes, folder: int) -> bool:
    """Return whether the writer of a temporary file is gone. A live writer holds the file's lock."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        return error.errno == errno.ELOOP  # a link, which is created in one step and moved in the next
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _write(name: bytes, folder: int, content: bytes, mode: int | None, state: FileState) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    wanted = 0o644 if mode is None else mode
    with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        file.write(content)
        file.flush()
        is_program = bool(wanted & stat.S_IXUSR)
        if state.mode == PROGRAM and not is_program:
            wanted |= (wanted & 0o444) >> 2
        elif state.mode != PROGRAM and is_program:
            wanted &= ~0o111
        os.fchmod(file.fileno(), wanted)
