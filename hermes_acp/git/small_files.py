"""Read a small file that controls git, without blocking on pipes, devices or huge files."""

import os
import stat
from typing import Final

MAX_TEXT_BYTES: Final = 1 << 16


def read_small_file(path: str, limit_bytes: int, *, follows_links: bool = True) -> bytes | None:
    """Return a regular file's bytes; empty if it is missing, and None if it is too large or not a regular file."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follows_links else os.O_NOFOLLOW)
    try:
        descriptor = os.open(path, flags)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except (OSError, ValueError):
        return None
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > limit_bytes:
            return None
        with open(descriptor, "rb", buffering=0, closefd=False) as file:
            content = file.read(limit_bytes + 1)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    return content if content is not None and len(content) <= limit_bytes else None


def read_small_text(path: str, limit_bytes: int = MAX_TEXT_BYTES) -> str | None:
    """Return a small regular file's text; empty if it is missing, and None if it is anything else, such as a link."""
    content = read_small_file(path, limit_bytes, follows_links=False)
    return None if content is None else content.decode("utf-8", "replace")
