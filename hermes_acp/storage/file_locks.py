"""A lock between processes: flock(2) on a file next to the guarded data, which the kernel releases with the process.

Acquiring it blocks, so do that in a worker thread.
"""

import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from hermes_acp.storage.private_files import private_folder, storage_error


@contextmanager
def file_lock(path: Path) -> Generator[None, None, None]:
    """Wait for the lock at `path` and hold it exclusively until the `with` block ends. Raises StorageError."""
    private_folder(path.parent)
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise storage_error("open the lock", path, error) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        except OSError as error:
            raise storage_error("take the lock", path, error) from error
        yield
    finally:
        os.close(descriptor)
