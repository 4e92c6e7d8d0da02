"""Watch folders with inotify(7), so that unchanged ones need not be scanned again."""

import os
from contextlib import suppress
from typing import Final

from msgspec import Struct

from hermes_acp.storage.watching.inotify import (
    DELETE_SELF,
    DO_NOT_FOLLOW,
    IS_FOLDER,
    MOVE_SELF,
    NAMES,
    OVERFLOW,
    Inotify,
)

OPEN_FILES: Final = "/proc/self/fd"
MAX_INSTANCES: Final = 24
"""The maximum number of inotify instances of this process; the limit is often 128 per user, for all programs."""
USERS_LIMIT: Final = "/proc/sys/fs/inotify/max_user_watches"
SHARE: Final = 8
"""The share of a user's watches that one watcher may use, because editors need watches too."""


class Changes(Struct, frozen=True):
    """Folders whose entries changed, and subfolders that were replaced; if `is_lost`, anything may have changed."""

    folders: frozenset[str] = frozenset()
    inner: frozenset[str] = frozenset()
    is_lost: bool = False


class Watcher:
    """A watcher with one inotify instance; if no instance is available, nothing is watched."""

    def __init__(self, max_instances: int = MAX_INSTANCES) -> None:
        """Open the instance, unless the process already has `max_instances`."""
        self._inotify: Inotify | None = None
        with suppress(OSError):
            self._inotify = Inotify() if _open_now() < max_instances else None
        self._paths: dict[int, str] = {}
        self._watches: dict[str, int] = {}
        self._limit = _limit() if self._inotify else 0

    def watch(self, path: str) -> bool:
        """Watch a folder; return whether that succeeded."""
        if self._inotify is None or len(self._paths) >= self._limit:
            return False
        try:
            watch = self._inotify.add(path, NAMES | DO_NOT_FOLLOW)
        except (OSError, UnicodeEncodeError):
            return False
        self._paths[watch] = path
        self._watches[path] = watch
        return True

    def is_watched(self, path: str) -> bool:
        """Return whether changes to a folder are reported."""
        return path in self._watches

    def forget(self, path: str) -> None:
        """Stop watching a folder."""
        watch = self._watches.pop(path, None)
        if self._inotify and watch is not None and self._paths.pop(watch, None) is not None:
            self._inotify.remove(watch)

    def changes(self) -> Changes:
        """Return what changed since the last call."""
        folders: set[str] = set()
        inner: set[str] = set()
        is_lost = False
        for change in self._inotify.read() if self._inotify else ():
            is_lost = is_lost or bool(change.mask & OVERFLOW)
            path = self._paths.get(change.watch)
            if path is None:
                continue
            if change.mask & (DELETE_SELF | MOVE_SELF):
                inner.add(path)
                folders.add(os.path.dirname(path))
            elif change.name:
                folders.add(path)
                if change.mask & IS_FOLDER:
                    inner.add(f"{path}/{change.name}")
        return Changes(frozenset(folders), frozenset(inner), is_lost)

    def close(self) -> None:
        """Close the instance."""
        inotify, self._inotify, self._limit = self._inotify, None, 0
        self._paths.clear()
        self._watches.clear()
        if inotify:
            inotify.close()


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
