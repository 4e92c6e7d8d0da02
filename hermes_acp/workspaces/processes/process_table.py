"""List the machine's processes, from /proc on Linux (proc(5)) or otherwise with psutil.

All functions block.
"""

import os
import sys
from contextlib import suppress

from msgspec import Struct

Identity = tuple[int, int]
MAX_READINGS = 8
"""How often the lists of children are read until two readings agree."""


class ProcessInfo(Struct, frozen=True):
    """One process as listed by the system; `started` distinguishes processes that reuse an ID.

    `started` is in clock ticks on Linux, in microseconds elsewhere.
    """

    pid: int
    parent: int
    group: int
    session: int
    started: int
    is_dead: bool

    def identity(self) -> Identity:
        """Return a key that no other process will ever have."""
        return self.pid, self.started


def list_processes() -> dict[int, ProcessInfo]:
    """Return every process that the system shows, by process ID."""
    return _list_from_proc() if sys.platform.startswith("linux") else _list_from_psutil()


def list_children() -> list[ProcessInfo]:
    """Return the children of this process, including adopted and dead ones."""
    own = os.getpid()
    pids = _read_children() if sys.platform.startswith("linux") else None
    if pids is None:
        return [process for process in list_processes().values() if process.parent == own]
    children: list[ProcessInfo] = []
    for pid in pids:
        with suppress(OSError, ValueError, IndexError):
            children.append(_read_process(pid))
    return [process for process in children if process.parent == own]


def has_variable(pid: int, variable: bytes) -> bool:
    """Return whether a process started with an environment variable, given as NAME=VALUE."""
    if not sys.platform.startswith("linux"):
        return _has_variable_in_psutil(pid, variable)
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return variable in file.read().split(b"\0")
    except OSError:
        return False


def _list_from_proc() -> dict[int, ProcessInfo]:
    processes: dict[int, ProcessInfo] = {}
    with suppress(FileNotFoundError):
        for name in os.listdir("/proc"):
            if name.isdigit():
                with suppress(OSError, ValueError, IndexError):
                    processes[int(name)] = _read_process(int(name))
    return processes


def _read_children() -> frozenset[int] | None:
    """Return the process IDs of this process's children from the kernel's lists, one for each thread.

    A list can lack a child while another one is reaped or a thread ends, so two readings must agree. Return None if
    they do not, or if the kernel has no such lists (CONFIG_PROC_CHILDREN).
    """
    last = None
    for _ in range(MAX_READINGS):
        found, lists = set[int](), 0
        for thread in os.listdir("/proc/self/task"):
            with suppress(FileNotFoundError, ProcessLookupError):  # the thread ended
                with open(f"/proc/self/task/{thread}/children", "rb") as file:
                    found.update(map(int, file.read().split()))
                lists += 1
        if not lists:
            return None
        if found == last:
            return frozenset(found)
        last = found
    return None


def _read_process(pid: int) -> ProcessInfo:
    with open(f"/proc/{pid}/stat", "rb") as file:
        fields = file.read().rpartition(b")")[2].split()
    parent, group, session, started = (int(fields[place]) for place in (1, 2, 3, 19))
    return ProcessInfo(pid, parent, group, session, started, fields[0] in (b"Z", b"X"))


def _list_from_psutil() -> dict[int, ProcessInfo]:
    import psutil

    processes: dict[int, ProcessInfo] = {}
    for process in psutil.process_iter(("ppid", "create_time", "status")):
        known = process.info
        with suppress(OSError):  # it may have ended or belong to another user
            group, session = os.getpgid(process.pid), os.getsid(process.pid)
            started = round((known["create_time"] or 0) * 1_000_000)
            is_dead = known["status"] in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
            processes[process.pid] = ProcessInfo(
                process.pid, known["ppid"] or 0, group, session, started, is_dead
            )
    return processes


def _has_variable_in_psutil(pid: int, variable: bytes) -> bool:
    import psutil

    name, _, value = os.fsdecode(variable).partition("=")
    try:
        return psutil.Process(pid).environ().get(name) == value
    except (OSError, psutil.Error):
        return False
