"""Wait until written data has reached the disk."""

import fcntl
import os

_FULL_SYNC: int | None = getattr(fcntl, "F_FULLFSYNC", None)
"""macOS only: there, fsync(2) leaves data in the drive's cache, and fdatasync(2) is missing. Source: fcntl(2)."""


def sync_file(descriptor: int) -> None:
    """Return once a file or folder would survive a power failure. Raises OSError."""
    if _FULL_SYNC is None or not sync_fully(descriptor, _FULL_SYNC):
        os.fsync(descriptor)


def sync_content(descriptor: int) -> None:
    """Return once a file's content would survive a power failure. Its timestamps may not. Raises OSError."""
    if hasattr(os, "fdatasync"):
        os.fdatasync(descriptor)
    else:
        sync_file(descriptor)


def sync_file_system(folder: str) -> None:
    """Return once everything on the file system of a folder would survive a power failure.

    Where possible, only that file system is synced, because another one may hang. Raises OSError.
    Source: syncfs(2).
    """
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    if not hasattr(library, "syncfs"):
        os.sync()
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        if library.syncfs(descriptor) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), folder)
    finally:
        os.close(descriptor)


def sync_fully(descriptor: int, command: int) -> bool:
    """Return whether the drive flushed its cache, which network and FAT file systems do not support."""
    try:
        fcntl.fcntl(descriptor, command)
    except OSError:
        return False
    return True
