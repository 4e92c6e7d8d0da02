"""What stands in a small file that decides what a command does.

Knows: that a pipe, a device or a huge file must hold nobody up. Does not know: what a content means.
"""

import os
import stat


def read_small_file(path: str, limit_bytes: int) -> bytes | None:
    """Return a regular file's bytes; empty where there is no such file, None where it is too large or no such kind."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except (OSError, ValueError):
        return None
    with open(descriptor, "rb", buffering=0) as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > limit_bytes:
            return None
        try:
            content = file.read(limit_bytes + 1)
        except OSError:
            return None
    return content if content is not None and len(content) <= limit_bytes else None
