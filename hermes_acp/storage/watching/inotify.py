"""Report folder changes from the Linux kernel's inotify(7), through the C library.

Source: inotify(7) and struct inotify_event in <sys/inotify.h>. An instance is used from one thread at a time.
"""

import ctypes
import os
import struct
import sys
from contextlib import suppress
from typing import Final

from msgspec import Struct

MODIFY, ATTRIB, MOVED_FROM, MOVED_TO = 0x2, 0x4, 0x40, 0x80
CREATE, DELETE, DELETE_SELF, MOVE_SELF = 0x100, 0x200, 0x400, 0x800
OVERFLOW, IGNORED, IS_FOLDER = 0x4000, 0x8000, 0x4000_0000
ONLY_FOLDERS, DO_NOT_FOLLOW = 0x0100_0000, 0x0200_0000
NAMES: Final = CREATE | DELETE | MOVED_FROM | MOVED_TO | DELETE_SELF | MOVE_SELF | ONLY_FOLDERS
"""The event mask for names that appear in or disappear from a folder, and for changes of the folder itself."""
READ_BYTES: Final = 1 << 16
_HEAD: Final = struct.Struct("iIII")


class Change(Struct, frozen=True, gc=False):
    """An event: its watch, its mask, and the name in that folder ("" for the folder itself)."""

    watch: int
    mask: int
    name: str


class Inotify:
    """An inotify instance, which uses a descriptor and counts towards the user's limit. Close it after use."""

    def __init__(self) -> None:
        """Open the instance. Raises OSError if none is available, or the system has no inotify."""
        if sys.platform != "linux":
            raise OSError("this system does not have inotify")
        self._library = ctypes.CDLL(None, use_errno=True)
        self.descriptor: int = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0:
            raise _last_error()

    def add(self, folder: str, mask: int) -> int:
        """Watch a folder, or change the mask of its watch; return the watch.

        Raises OSError, and UnicodeEncodeError for a name that no file can have.
        """
        watch: int = self._library.inotify_add_watch(self.descriptor, os.fsencode(folder), mask)
        if watch < 0:
            raise _last_error()
        return watch

    def remove(self, watch: int) -> None:
        """Stop watching a folder; an already deleted folder is not an error."""
        self._library.inotify_rm_watch(self.descriptor, watch)

    def read(self) -> list[Change]:
        """Return the changes since the last call. Never waits."""
        changes: list[Change] = []
        with suppress(BlockingIOError):
            while self.descriptor >= 0 and (data := os.read(self.descriptor, READ_BYTES)):
                changes += _parsed(data)
        return changes

    def close(self) -> None:
        """Stop watching everything; safe to call twice."""
        descriptor, self.descriptor = self.descriptor, -1
        if descriptor >= 0:
            os.close(descriptor)


def _parsed(data: bytes) -> list[Change]:
    changes: list[Change] = []
    at = 0
    while at < len(data):
        watch, mask, _, length = _HEAD.unpack_from(data, at)
        at += _HEAD.size + length
        changes.append(Change(watch, mask, os.fsdecode(data[at - length : at].rstrip(b"\0"))))
    return changes


def _last_error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
