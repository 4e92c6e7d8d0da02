"""Labels that identify a container's owner: a process on a machine, distinguished from reused process IDs."""

import os
from typing import Final

BOOT_FILE: Final = "/proc/sys/kernel/random/boot_id"


def own_label() -> str:
    """Return a label that identifies this process uniquely."""
    return f"{_boot()}:{os.getpid()}:{_started(os.getpid())}"


def is_gone(label: str) -> bool:
    """Return whether the process in a label has ended; return False for other machines and invalid labels."""
    match label.split(":"):
        case [boot, pid, started] if pid.isdigit() and boot and boot == _boot():
            return _started(int(pid)) != started
        case _:
            return False


def _boot() -> str:
    """Return the machine's boot ID, or an empty string if it has none."""
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
