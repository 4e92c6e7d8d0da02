"""Descriptors of the paths that one sandbox mounts, held open from check to mount so that nothing can replace them.

The descriptors are passed only to the mounting program, which closes each after its mount. Source:
open(2), proc(5).
"""

import errno
import os
import resource
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Final

OPEN_PATH_FLAGS: int = getattr(os, "O_PATH", os.O_RDONLY) | os.O_NOFOLLOW | os.O_CLOEXEC

MIN_FREE_DESCRIPTORS: Final = 8192


class PathHandles:
    """The descriptors for one start; paths with a `lasting` descriptor are not opened again."""

    def __init__(self, lasting: Mapping[str, int], *, are_taken: bool = True) -> None:
        """Initialise without descriptors; `are_taken` says that the mounting program receives them."""
        self.are_taken = are_taken
        self._lasting = lasting
        self._own: list[int] = []

    @property
    def all(self) -> tuple[int, ...]:
        """Return all descriptors to be passed on."""
        return tuple(self._own)

    def hold(self, path: str) -> int | None:
        """Return a descriptor of the path, or None if it is missing, a link, or reached through a link.

        Each descriptor is for one mount, after which the mounting program closes it.
        """
        lasting = self._lasting.get(path)
        opened = open_in_place(path) if lasting is None else os.dup(lasting)
        if opened is not None:
            self._own.append(opened)
        return opened

    def keep(self, content: bytes) -> int:
        """Return a descriptor from which this content can be read."""
        made = os.memfd_create("hermes-acp", os.MFD_CLOEXEC)
        self._own.append(made)
        os.write(made, content)
        os.lseek(made, 0, os.SEEK_SET)
        return made

    def let_go(self) -> None:
        """Close this object's own descriptors; may be called repeatedly."""
        own, self._own = self._own, []
        close_all(own)


def open_in_place(path: str) -> int | None:
    """Open a path without following links and return its descriptor, or None if it is missing.

    Raises OSError if too many files are open.
    """
    try:
        opened = _open(path)
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE):
            raise
        return None
    with suppress(OSError):
        if os.readlink(f"/proc/self/fd/{opened}") == path and not stat.S_ISLNK(os.fstat(opened).st_mode):
            return opened
    os.close(opened)
    return None


def close_all(descriptors: Iterable[int]) -> None:
    """Close descriptors that are no longer needed."""
    for each in descriptors:
        with suppress(OSError):
            os.close(each)


def _open(path: str) -> int:
    try:
        return os.open(path, OPEN_PATH_FLAGS)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
    # A repository needs up to four for each of its submodules; a desktop's soft limit is low.
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MIN_FREE_DESCRIPTORS if most == resource.RLIM_INFINITY else min(most, MIN_FREE_DESCRIPTORS)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(now, wanted), most))
    return os.open(path, OPEN_PATH_FLAGS)
