"""Read text files from a workspace, but only regular files within its root and below a size limit."""

import os
import stat
from pathlib import Path


def read_regular_file(path: Path, root: Path, most_bytes: int) -> bytes | str:
    """Return the content of a file, or a sentence that says why it was not read.

    Links may point anywhere within `root`, which must be resolved.
    """
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(root):
            why = "It is a link that leads out of its repository or folder."
            return f"{why} Replace the link with the file itself."
        handle = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(handle, "rb") as stream:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                return "It is not a regular file."
            if status.st_size > most_bytes:
                return f"It has {status.st_size:,} bytes; at most {most_bytes:,} are read. Shorten it."
            content = stream.read(most_bytes + 1)
    except (OSError, RuntimeError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        return f"It cannot be read: {reason or 'its links form a loop'}."
    return content if len(content) <= most_bytes else "It grew while it was being read. Try again."
