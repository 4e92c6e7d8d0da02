"""Protect this process's memory from other processes of the same user, including the commands it runs.

From then on `/proc/PID/environ`, `mem`, `maps` and `fd` are root's, nobody traces the process and it leaves
no core. What it starts is not concerned: a program that is executed can be looked at again. Source: prctl(2),
proc(5).
"""

import sys

_PR_SET_DUMPABLE = 4


def hide_memory() -> None:
    """Keep processes of the same user from reading this one's memory and initial environment.

    Linux only; repeatable.
    """
    if sys.platform.startswith("linux"):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
