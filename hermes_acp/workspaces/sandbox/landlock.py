"""The rights that a command confined by Landlock is left with.

Knows: that they only add up, beneath a folder as in it. Does not know: how all others are given up (`renunciation`).
So what must not change cannot lie in a folder that may: at the top of a root nothing new is made here, `.git` is only
read, and everything else beneath the root is open.
"""

import os
from collections.abc import Mapping, Sequence

from hermes_acp.workspaces.confine import is_within
from hermes_acp.workspaces.sandbox.bubblewrap import Room
from hermes_acp.workspaces.sandbox.places import Places
from hermes_acp.workspaces.sandbox.renunciation import Right

DEVICES = (
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
)
ALSO_READ = ("/proc", "/run/systemd/resolve")


def landlock_rights(places: Places, room: Room) -> Mapping[Right, Sequence[str]]:
    """Give the resolved paths of each right; what a link in a writable folder leads to is open to nobody."""
    refused = (*places.hidden, *places.kept, *places.pinned)
    read: list[str] = []
    write = [room.temporary, room.home]
    for folder in () if places.is_read_only else places.writable:
        only_read: list[str] = []
        whole = [folder]
        if any(is_within(path, folder) for path in refused):
            whole.clear()
            _split(folder, places, only_read, whole)
        place = _settled(folder, places)
        read += (place + path[len(folder) :] for path in only_read)
        write += (place + path[len(folder) :] for path in whole)
    also = places.writable if places.is_read_only else ()
    for folder in (*places.system, *places.read_only, *ALSO_READ, *also):
        _read(folder, places, read)
    shown = (_settled(path, places) for path in (*places.writable, *places.read_only, *places.system))
    listed = [path for path in shown if path not in read]
    return {"list": listed, "read": read, "use": [os.path.realpath(path) for path in DEVICES], "write": write}


def _settled(path: str, places: Places) -> str:
    """Resolve a path that no command can change; one in a writable folder stays as it is written."""
    is_open = any(is_within(path, folder) and path != folder for folder in places.writable)
    return path if is_open else os.path.realpath(path)


def _split(folder: str, places: Places, read: list[str], write: list[str]) -> None:
    """Open what lies in a folder, one by one, but for what is refused."""
    for name in sorted(os.listdir(folder)):
        path = f"{folder}/{name}"
        if path in places.hidden or os.path.islink(path):
            continue
        if path in places.kept or name == ".git":
            _read(path, places, read)
        elif any(is_within(each, path) and each != path for each in (*places.kept, *places.hidden)):
            _split(path, places, read, write)
        else:
            write.append(path)


def _read(path: str, places: Places, read: list[str]) -> None:
    """Let a path be read, or what is in it, one by one, but for what is hidden."""
    path = _settled(path, places)
    if path in places.hidden:
        return
    if not any(is_within(each, path) for each in places.hidden):
        read.append(path)
        return
    for name in sorted(os.listdir(path)):
        _read(f"{path}/{name}", places, read)
