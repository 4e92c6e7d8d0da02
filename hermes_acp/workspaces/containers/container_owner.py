"""Whose a container is, written on it: this very process of this very machine.

Knows: how a process is told from a later one of the same number. Does not know: containers.
"""

import os
from typing import Final

BOOT_FILE: Final = "/proc/sys/kernel/random/boot_id"


def own_label() -> str:
    """Name this process for good."""
    return f"{_boot()}:{os.getpid()}:{_started(os.getpid())}"


def is_gone(label: str) -> bool:
    """Return whether the process that a label names ended; what is of another machine or no label is left alone."""
    match label.split(":"):
        case [boot, pid, started] if pid.isdigit() and boot and boot == _boot():
            return _started(int(pid)) != started
        case _:
            return False


def _boot() -> str:
    """Return what names this machine since it was started; nothing where it does not tell."""
    try:
        with open(BOOT_FILE, encoding="ascii") as file:
            return file.read().strip()
    except OSError:
        return ""


def _started(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode("ascii")
    except OSError:
        return ""
