"""A control group for one workspace's commands: it limits their number and memory, and kills them together.

Source: cgroups(7), both versions. Everything here blocks briefly. Groups are optional: if none can be
created, commands run without one.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from threading import Event
from typing import Final

MOUNTS: Final = "/proc/self/mountinfo"
OWN_CGROUP: Final = "/proc/self/cgroup"
MAX_POLLS: Final = 50
POLL_INTERVAL_S: Final = 0.01


class Cgroup:
    """The folders of one group: a single one in version 2, one per controller in version 1."""

    def __init__(self, folders: tuple[str, ...]) -> None:
        self.folders = folders
        self._pause = Event()

    def take(self, pid: int) -> None:
        """Add a single-threaded process without children; writing to `tasks` does not lock out other processes."""
        for folder in self.folders:
            if not _write(f"{folder}/tasks", str(pid)):
                _write(f"{folder}/cgroup.procs", str(pid))

    def end(self) -> None:
        """Kill everything in the group, and remove it."""
        for folder in self.folders:
            if not _write(f"{folder}/cgroup.kill", "1"):
                for pid in _members(folder):
                    with suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
        for _ in range(MAX_POLLS):
            left = [folder for folder in self.folders if _is_left(folder)]
            if not left:
                return
            self._pause.wait(POLL_INTERVAL_S)


def _is_left(folder: str) -> bool:
    """Remove a folder and return whether it still exists, because the kernel refuses while a member is exiting."""
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def create_cgroup(name: str, max_processes: int, memory_bytes: int) -> Cgroup | None:
    """Create a group with the given limits; return None if this user may not."""
    limits = {
        "pids": (("pids.max", max_processes),),
        "memory": (
            ("memory.max", memory_bytes),
            ("memory.limit_in_bytes", memory_bytes),
            ("memory.swap.max", 0),
        ),
    }
    made: list[str] = []
    for parent, controllers in _parents():
        folder = f"{parent}/{name}"
        try:
            os.mkdir(folder, 0o755)
        except OSError:
            continue
        wrote = [
            _write(f"{folder}/{file}", str(value))
            for each in controllers
            for file, value in limits[each]
            if os.path.exists(f"{folder}/{file}")
        ]
        if any(wrote) and os.access(f"{folder}/cgroup.procs", os.W_OK):
            made.append(folder)
        else:
            with suppress(OSError):
                os.rmdir(folder)
    return Cgroup(tuple(made)) if made else None


def _parents() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the folders in which groups could be created, each with the controllers available there."""
    mine: dict[str, str] = {}
    with suppress(OSError), open(OWN_CGROUP, encoding="utf-8") as file:
        for line in file:
            _, controllers, path = line.rstrip("\n").split(":", 2)
            mine |= dict.fromkeys(controllers.split(","), path)
    with suppress(OSError), open(MOUNTS, encoding="utf-8") as file:
        for line in file:
            before, _, after = line.partition(" - ")
            kind, _, options = after.split(" ", 2)
            folder = before.split(" ")[4]
            if kind == "cgroup2" and "" in mine:
                yield os.path.dirname(folder + mine[""].rstrip("/") + "/x"), ("pids", "memory")
                yield os.path.dirname(folder + mine[""].rstrip("/")), ("pids", "memory")
            elif kind == "cgroup":
                for controller in {"pids", "memory"} & set(options.strip().split(",")):
                    yield folder + mine.get(controller, "/").rstrip("/"), (controller,)


def _members(folder: str) -> list[int]:
    with suppress(OSError), open(f"{folder}/cgroup.procs", encoding="ascii") as file:
        return [int(line) for line in file]
    return []


def _write(path: str, text: str) -> bool:
    try:
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    except OSError:
        return False
    return True
