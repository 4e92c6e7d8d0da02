"""A workspace on disk, touched by descriptors alone, so that no link leads out of it.

Knows: how a state is put back at a path, and what goes away with the last file of a folder. Does not know: git, who
wants what. Every part of a path is opened by itself without following links: where a link stands in the way,
there is no such path. Paths are bytes, relative to the workspace.
Source: openat(2), O_NOFOLLOW.
"""

import errno
import fcntl
import os
import re
import stat
from collections.abc import Generator
from contextlib import contextmanager, suppress
from typing import Final

from hermes_acp.storage.checkpoints.git_trees import LINK, PROGRAM, State, Unknown, parents_of, state_of

FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
DRAFT: Final = b".hermes-"
NO_WAY: Final = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class WorkspaceFilesystem:
    """One workspace folder, open for as long as the block that opened it."""

    def __init__(self, root: str) -> None:
        self._root = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        self._swept: set[bytes] = set()

    def close(self) -> None:
        """Let go of it."""
        os.close(self._root)

    def state(self, path: bytes) -> State | Unknown | None:
        """Return what stands at a path; None for nothing, or where only a link leads there."""
        try:
            with self._parent(path) as (folder, name):
                return state_of(name, folder)
        except OSError as error:
            return None if error.errno in NO_WAY else Unknown(f"it cannot be read: {error.strerror}")

    @contextmanager
    def _parent(self, path: bytes, *, makes: bool = False) -> Generator[tuple[int, bytes]]:
        """Open the folder a path lies in. Raises OSError where there is none and none is made."""
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

    def put(self, path: bytes, state: State, content: bytes, mode: int | None) -> None:
        """Let a file or a link stand at a path, whole or not at all; folders are made. Raises OSError.

        `mode` is what its permission bits were, where they are known; else a file that stands there keeps its own. An
        empty folder gives way.
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
        """Take away what a killed process left half written in a folder; once a folder."""
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
        """Take a file or a link away; one that is gone is no mistake. Raises OSError."""
        try:
            with self._parent(path) as (folder, name):
                os.unlink(name, dir_fd=folder)
        except OSError as error:
            if error.errno not in NO_WAY:
                raise

    def clear(self, path: bytes, spared: frozenset[bytes]) -> None:
        """Take away the folders above a path that hold nothing any more, up to the first that does or is spared."""
        for folder in parents_of(path):
            if folder in spared or not self.drop_folder(folder):
                return

    def drop_folder(self, path: bytes) -> bool:
        """Take an empty folder away, and tell whether it is gone."""
        try:
            with self._parent(path) as (folder, name):
                os.rmdir(name, dir_fd=folder)
        except OSError as error:
            return error.errno == errno.ENOENT
        return True

    def make_folder(self, path: bytes) -> None:
        """Make a folder, and those it lies in; what stands there already is left."""
        with suppress(OSError), self._parent(path + b"/.", makes=True):
            return

    def folder_mode(self, path: bytes) -> int | None:
        """Return a folder's permission bits; None where there is none."""
        try:
            with self._parent(path + b"/.") as (folder, _):
                return stat.S_IMODE(os.fstat(folder).st_mode)
        except OSError:
            return None

    def set_folder_mode(self, path: bytes, mode: int) -> None:
        """Give a folder other permission bits, where its owner may. One that is not there needs none."""
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
    """Return whether nobody writes a draft any more: who does holds its lock, which no death outlives."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        return error.errno == errno.ELOOP  # a link, which is made in one step and moved in the next
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _write(name: bytes, folder: int, content: bytes, mode: int | None, state: State) -> None:
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
