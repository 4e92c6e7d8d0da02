"""Protect this process's memory from other processes of the same user, including the commands it runs.

Afterwards, `/proc/PID/environ`, `mem`, `maps` and `fd` belong to root, the process cannot be traced, and it leaves no
core dump. Its children are not affected: executing a program makes it readable again. Source: prctl(2), proc(5).
"""

import sys

_PR_SET_DUMPABLE = 4


def hide_memory() -> None:
    """Prevent processes of the same user from reading this one's memory and initial environment.

    Linux only; can be called repeatedly.
    """
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
