"""Linux's own news of changes in folders, inotify(7), for any number of folders through one descriptor.

Source: inotify(7); struct inotify_event in <sys/inotify.h>. Called from one thread at a time, except `read`, which the
owner of the event loop calls.
"""

import ctypes
import os
import struct
import sys
from contextlib import suppress
from typing import Final

MODIFY, ATTRIB, MOVED_FROM, MOVED_TO = 0x2, 0x4, 0x40, 0x80
CREATE, DELETE, DELETE_SELF, MOVE_SELF = 0x100, 0x200, 0x400, 0x800
OVERFLOW, IGNORED, ONLYDIR = 0x4000, 0x8000, 0x0100_0000
NAMES: Final = CREATE | DELETE | MOVED_FROM | MOVED_TO | DELETE_SELF | MOVE_SELF | ONLYDIR
CONTENTS: Final = NAMES | MODIFY | ATTRIB
READ_BYTES: Final = 1 << 16
HEAD: Final = struct.Struct("iIII")


class Inotify:
    """One inotify instance. Close it; it holds a descriptor and one of the user's instances."""

    def __init__(self) -> None:
        """Open the instance. Raises OSError where the system has none to give, or has no inotify at all."""
        if sys.platform != "linux":
            raise OSError("this system has no inotify")
        self._library = ctypes.CDLL(None, use_errno=True)
        self.descriptor: int = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0:
            raise _last_error()
        self._paths: dict[int, tuple[str, ...]] = {}
        self._watches: dict[str, int] = {}

    def add(self, folder: str, mask: int) -> None:
        """Watch a folder, or watch it for something else than before. Raises OSError."""
        watch: int = self._library.inotify_add_watch(self.descriptor, os.fsencode(folder), mask)
        if watch < 0:
            raise _last_error()
        self.discard(folder, but_for=watch)
        self._watches[folder] = watch
        self._paths[watch] = tuple(dict.fromkeys((*self._paths.get(watch, ()), folder)))

    def discard(self, folder: str, *, but_for: int = -1) -> None:
        """Watch a folder no more; one that is reached by another path too stays watched."""
        watch = self._watches.get(folder, -1)
        if watch in (-1, but_for):
            return
        del self._watches[folder]
        left = tuple(path for path in self._paths.get(watch, ()) if path != folder)
        if left:
            self._paths[watch] = left
        elif self._paths.pop(watch, None):
            self._library.inotify_rm_watch(self.descriptor, watch)

    def read(self) -> set[str]:
        """Return the paths that changed since the last call; "" stands for every path. Never waits."""
        changed: set[str] = set()
        with suppress(BlockingIOError):
            while data := os.read(self.descriptor, READ_BYTES):
                changed |= self._paths_in(data)
        return changed

    def _paths_in(self, data: bytes) -> set[str]:
        changed: set[str] = set()
        at = 0
        while at < len(data):
            watch, mask, _, length = HEAD.unpack_from(data, at)
            at += HEAD.size + length
            name = os.fsdecode(data[at - length : at].rstrip(b"\0"))
            if mask & OVERFLOW:
                changed.add("")
            elif not mask & IGNORED:
                paths = self._paths.get(watch, ())
                changed |= {os.path.join(path, name) if name else path for path in paths}
        return changed

    def close(self) -> None:
        """Watch nothing any more; safe to call twice."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _last_error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
