"""Write the messages of a resident process to the terminal of the person who started it, or to its log."""

import os
import stat
import sys
from contextlib import suppress
from datetime import datetime


def say(line: str) -> None:
    """Write a message to standard error; with the time if that is a file, since terminals and service managers show
    it.
    """
    when = f"{datetime.now().astimezone().isoformat(' ', 'seconds')}  " if _is_file() else ""
    sys.stderr.write(f"{when}{line}\n")
    sys.stderr.flush()


def _is_file() -> bool:
    with suppress(OSError, ValueError):
        return stat.S_ISREG(os.fstat(sys.stderr.fileno()).st_mode)
    return False
