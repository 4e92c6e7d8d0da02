"""Protect the wire's descriptors from all other code.

This module imports almost nothing, because it is called before anything else is imported.
"""

import os
import stat


def claim(*, is_silent: bool = True) -> tuple[int, int]:
    """Move the wire off descriptors 0 and 1; return its new descriptors (in_fd, out_fd), not inheritable.

    Call it once, first thing in the process. Afterwards descriptor 0 reads /dev/null and descriptor 1 is
    standard error, so that no print, C library or child process can write to the wire or read from it. Standard error
    is silenced if it is the wire's own pipe, unless its output is for people and need not be silent. Raises OSError if
    standard input or output is closed.
    """
    in_fd = _duplicate(0)
    out_fd = _duplicate(1)
    null_fd = os.open(os.devnull, os.O_RDWR)
    try:
        if _is_closed(2) or (is_silent and _is_same_wire(1, 2)):
            os.dup2(null_fd, 2)
        os.dup2(null_fd, 0)
        os.dup2(2, 1)
    finally:
        if null_fd > 2:
            os.close(null_fd)
    return in_fd, out_fd


def _duplicate(fd: int) -> int:
    """Duplicate to a descriptor above the three standard ones, even when standard error is closed."""
    copies = [os.dup(fd)]
    while copies[-1] <= 2:
        copies.append(os.dup(fd))
    for spare in copies[:-1]:
        os.close(spare)
    return copies[-1]


def _is_closed(fd: int) -> bool:
    try:
        os.fstat(fd)
    except OSError:
        return True
    return False


def _is_same_wire(one_fd: int, other_fd: int) -> bool:
    """Return whether both descriptors use the same pipe or socket, where a log line would corrupt the stream."""
    one, other = os.fstat(one_fd), os.fstat(other_fd)
    return (stat.S_ISFIFO(one.st_mode) or stat.S_ISSOCK(one.st_mode)) and os.path.samestat(one, other)
