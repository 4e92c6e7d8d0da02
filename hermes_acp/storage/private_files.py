"""Private folders and files, written atomically and durably.

Files are readable only by their owner. A lock belongs to an open descriptor, so it ends with its process,
however that process ends.
"""

import errno
import fcntl
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from hermes_acp.core.errors import Busy, StorageError
from hermes_acp.storage.disk_sync import sync_file


def storage_error(doing: str, path: Path, error: OSError) -> StorageError:
    """Return a StorageError that explains an OSError to the user."""
    hints = {
        errno.ENOSPC: "The disk is full: free some space, then try again.",
        errno.EDQUOT: "The disk quota is used up: free some space, then try again.",
        errno.EROFS: "The file system is read-only: set HERMES_HOME to a folder that can be written.",
        errno.EACCES: "Make the folder writable for you, or set HERMES_HOME to another one.",
        errno.EPERM: "Make the folder writable for you, or set HERMES_HOME to another one.",
        errno.ENOTDIR: "A file is in the way of a folder: move the file, or set HERMES_HOME to another folder.",
    }
    hint = hints.get(error.errno or 0, "Check the disk and the folder, or set HERMES_HOME to another one.")
    return StorageError(f"Could not {doing} {path}: {error.strerror or error}.", hint=hint)


def private_folder(path: Path) -> Path:
    """Create a folder, including its parents, that only its owner can enter."""
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise storage_error("make the folder", path, error) from error
    return path


def close_to_others(path: Path) -> None:
    """Restrict an existing folder, which may have been created by hand, to its owner. Raises StorageError."""
    try:
        mode = path.stat().st_mode & 0o777
        if mode & 0o077:
            path.chmod(mode & 0o700)
    except OSError as error:
        raise storage_error("make private", path, error) from error


def remove_folder(path: Path) -> None:
    """Remove a folder and its contents, if it exists. Raises StorageError."""
    import shutil

    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise storage_error("delete the folder", path, error) from error


def sync_folder(path: Path, within: int | None = None) -> None:
    """Sync the entries of a folder to disk; `path` is relative to the open folder `within`, if given.

    Does nothing on file systems that cannot sync. Raises OSError if the disk fails.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=within)
    try:
        sync_file(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP, errno.EROFS):
            raise
    finally:
        os.close(descriptor)


def write_private_text(path: Path, text: str) -> None:
    """Atomically replace the text of an owner-only file in a private folder. Raises StorageError."""
    private_folder(path.parent)
    try:
        write_whole(path, text.encode(), mode=0o600)
    except OSError as error:
        raise storage_error("write", path, error) from error


def write_whole(
    path: Path,
    content: bytes,
    *,
    mode: int | None = None,
    within: int | None = None,
    adorn: Callable[[int], None] | None = None,
) -> None:
    """Replace a file atomically: readers see either the old bytes or the new ones, even if this process is killed.

    On return, the file is durable. A relative path is looked up `within` an open folder. `mode` is the permission
    bits of the result; None preserves an existing file's, or applies the umask to a new one. `adorn` gets the open
    temporary file before it replaces the target. Raises the system's OSError, with nothing changed and no temporary
    file left.
    """
    if mode is None:
        mode = _present_mode(path, within)
    temporary = path.parent / f".hermes-{os.urandom(8).hex()}"
    descriptor, has_name = _open_draft(temporary, 0o666 if mode is None else 0o600, within)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(content)
            stream.flush()
            if mode is not None:
                os.fchmod(stream.fileno(), mode)
            if adorn is not None:
                adorn(stream.fileno())
            sync_file(stream.fileno())
            if not has_name:
                _give_name(stream.fileno(), temporary, within)
                has_name = True
        os.replace(temporary, path, src_dir_fd=within, dst_dir_fd=within)
    except BaseException:
        if has_name:
            os.unlink(temporary, dir_fd=within)
        raise
    sync_folder(path.parent, within)


def _open_draft(path: Path, mode: int, within: int | None) -> tuple[int, bool]:
    """Open a file for writing, unnamed if the file system supports it, so that a killed process leaves nothing."""
    if hasattr(os, "O_TMPFILE") and os.path.isdir("/proc/self/fd"):
        with suppress(OSError):
            return os.open(path.parent, os.O_WRONLY | os.O_TMPFILE | os.O_CLOEXEC, mode, dir_fd=within), False
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode, dir_fd=within), True


def _give_name(descriptor: int, path: Path, within: int | None) -> None:
    # Only linkat(2) follows the link in /proc, and only a folder's descriptor makes Python use it.
    written = f"/proc/self/fd/{descriptor}"
    os.link(written, path, src_dir_fd=descriptor, dst_dir_fd=within, follow_symlinks=True)


def _present_mode(path: Path, within: int | None) -> int | None:
    try:
        return os.stat(path, dir_fd=within).st_mode & 0o7777
    except FileNotFoundError:
        return None


def lock_or_busy(descriptor: int, what: str) -> None:
    """Lock an open file exclusively. Raises Busy if another process holds the lock."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Busy(
            f"{what} is open in another hermes-acp process.",
            hint="Close it there first, or start a new session here.",
        ) from error


def take_lock(path: Path) -> int:
    """Lock a private file, created if missing, and return its descriptor. Raises Busy."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        lock_or_busy(descriptor, str(path))
    except Busy:
        os.close(descriptor)
        raise
    return descriptor


def is_lock_held(path: Path) -> bool:
    """Return whether another process holds a lock; locks end with their process."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return False


def unlock_and_close(descriptor: int) -> None:
    """Close an open file and release its lock, even if a child between fork and exec still has the file open."""
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
