"""Folders watched by the kernel, so that what did not change is not looked at again.

Knows: inotify(7) by its system calls. Does not know: what is in a folder, or why it is watched.
"""

import ctypes
import os
import struct
from contextlib import suppress
from typing import Final

from msgspec import Struct

IN_NONBLOCK, IN_CLOEXEC = os.O_NONBLOCK, os.O_CLOEXEC
MOVED_FROM, MOVED_TO, CREATE, DELETE, DELETE_SELF, MOVE_SELF = 0x40, 0x80, 0x100, 0x200, 0x400, 0x800
OVERFLOW, IS_FOLDER = 0x4000, 0x40000000
ONLY_FOLDERS, DO_NOT_FOLLOW = 0x01000000, 0x02000000
WANTED: Final = (
    MOVED_FROM | MOVED_TO | CREATE | DELETE | DELETE_SELF | MOVE_SELF | ONLY_FOLDERS | DO_NOT_FOLLOW
)
HEADER: Final = struct.Struct("iIII")
CHUNK_BYTES: Final = 1 << 16
OPEN_FILES: Final = "/proc/self/fd"
MAX_INSTANCES: Final = 24
"""A user often has no more than 128, for all programs."""
USERS_LIMIT: Final = "/proc/sys/fs/inotify/max_user_watches"
SHARE: Final = 8
"""One watcher takes no more than this part of the watches a user may have: editors need theirs."""


class Changes(Struct, frozen=True):
    """Folders in which names came or went, and inner folders that are not what they were; all of it when `is_lost`."""

    folders: frozenset[str] = frozenset()
    inner: frozenset[str] = frozenset()
    is_lost: bool = False


class Watcher:
    """One inotify instance; where there is none to be had, it watches nothing."""

    def __init__(self) -> None:
        """Open the instance."""
        self._libc = ctypes.CDLL(None, use_errno=True)
        opener = getattr(self._libc, "inotify_init1", None)
        self._descriptor: int = (
            opener(IN_NONBLOCK | IN_CLOEXEC) if opener and _open_now() < MAX_INSTANCES else -1
        )
        self._paths: dict[int, str] = {}
        self._watches: dict[str, int] = {}
        self._limit = _limit() if self._descriptor >= 0 else 0

    def watch(self, path: str) -> bool:
        """Watch a folder; tell whether it is watched."""
        if len(self._paths) >= self._limit:
            return False
        try:
            encoded = os.fsencode(path)
        except UnicodeEncodeError:
            return False
        watch = int(self._libc.inotify_add_watch(self._descriptor, encoded, WANTED))
        if watch < 0:
            return False
        self._paths[watch] = path
        self._watches[path] = watch
        return True

    def is_watched(self, path: str) -> bool:
        """Tell whether changes of a folder are told."""
        return path in self._watches

    def forget(self, path: str) -> None:
        """Watch a folder no longer."""
        watch = self._watches.pop(path, None)
        if watch is not None and self._paths.pop(watch, None) is not None:
            self._libc.inotify_rm_watch(self._descriptor, watch)

    def changes(self) -> Changes:
        """Return what changed since the last call."""
        folders: set[str] = set()
        inner: set[str] = set()
        is_lost = False
        while self._descriptor >= 0 and (data := self._read()):
            at = 0
            while at < len(data):
                watch, mask, _, size = HEADER.unpack_from(data, at)
                name = os.fsdecode(data[at + HEADER.size : at + HEADER.size + size].rstrip(b"\0"))
                at += HEADER.size + size
                is_lost = is_lost or bool(mask & OVERFLOW)
                path = self._paths.get(watch)
                if path is None:
                    continue
                if mask & (DELETE_SELF | MOVE_SELF):
                    inner.add(path)
                    folders.add(os.path.dirname(path))
                elif name:
                    folders.add(path)
                    if mask & IS_FOLDER:
                        inner.add(f"{path}/{name}")
        return Changes(frozenset(folders), frozenset(inner), is_lost)

    def close(self) -> None:
        """Give the instance back."""
        descriptor, self._descriptor, self._limit = self._descriptor, -1, 0
        self._paths.clear()
        self._watches.clear()
        if descriptor >= 0:
            os.close(descriptor)

    def _read(self) -> bytes:
        try:
            return os.read(self._descriptor, CHUNK_BYTES)
        except BlockingIOError:
            return b""


def _open_now() -> int:
    """Return how many instances this process has."""
    count = 0
    with suppress(OSError):
        for each in os.listdir(OPEN_FILES):
            with suppress(OSError):
                count += os.readlink(f"{OPEN_FILES}/{each}") == "anon_inode:inotify"
    return count


def _limit() -> int:
    with suppress(OSError, ValueError), open(USERS_LIMIT, encoding="ascii") as file:
        return int(file.read()) // SHARE
    return 0
