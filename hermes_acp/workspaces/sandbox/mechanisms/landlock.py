"""The rights that a command confined by Landlock keeps.

Rights are additive and apply to everything beneath a folder, so a protected path cannot be inside a writable folder.
Therefore nothing new can be created at the top of a root, `.git` is read-only, and everything else beneath the root is
writable.
"""

import os
from collections.abc import Mapping, Sequence

from hermes_acp.workspaces.path_confinement import is_within
from hermes_acp.workspaces.sandbox.mechanisms.bubblewrap import SandboxResources
from hermes_acp.workspaces.sandbox.mechanisms.landlock_apply import Right
from hermes_acp.workspaces.sandbox.sandbox_mounts import SandboxMounts

DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
"""Devices that commands may use. Terminals are excluded, because a command could read input and forge output there."""
ALSO_READ = ("/proc", "/run/systemd/resolve")


def landlock_rights(mounts: SandboxMounts, resources: SandboxResources) -> Mapping[Right, Sequence[str]]:
    """Return the resolved paths for each right; nothing is granted on the target of a link in a writable folder."""
    mounts = mounts.hiding_masked()
    refused = (*mounts.hidden, *mounts.kept, *mounts.pinned)
    read: list[str] = []
    write = [resources.temporary, resources.home]
    for folder in () if mounts.is_read_only else mounts.writable:
        only_read: list[str] = []
        whole = [folder]
        if any(is_within(path, folder) for path in refused):
            whole.clear()
            _split(folder, mounts, only_read, whole)
        place = _settled(folder, mounts)
        read += (place + path[len(folder) :] for path in only_read)
        write += (place + path[len(folder) :] for path in whole)
    also = mounts.writable if mounts.is_read_only else ()
    for folder in (*mounts.system, *mounts.read_only, *ALSO_READ, *also):
        _read(folder, mounts, read)
    shown = (_settled(path, mounts) for path in (*mounts.writable, *mounts.read_only, *mounts.system))
    listed = [path for path in shown if path not in read]
    return {"list": listed, "read": read, "use": [os.path.realpath(path) for path in DEVICES], "write": write}


def _settled(path: str, mounts: SandboxMounts) -> str:
    """Resolve a path that no command can change; leave a path in a writable folder unresolved."""
    is_open = any(is_within(path, folder) and path != folder for folder in mounts.writable)
    return path if is_open else os.path.realpath(path)


def _split(folder: str, mounts: SandboxMounts, read: list[str], write: list[str]) -> None:
    """Grant rights on a folder's entries one by one, except the refused ones."""
    for name in sorted(os.listdir(folder)):
        path = f"{folder}/{name}"
        if path in mounts.hidden or os.path.islink(path):
            continue
        if path in mounts.kept or name == ".git":
            _read(path, mounts, read)
        elif any(is_within(each, path) and each != path for each in (*mounts.kept, *mounts.hidden)):
            _split(path, mounts, read, write)
        else:
            write.append(path)


def _read(path: str, mounts: SandboxMounts, read: list[str]) -> None:
    """Make a path readable, or its entries one by one, except the hidden ones."""
    path = _settled(path, mounts)
    if path in mounts.hidden:
        return
    if not any(is_within(each, path) for each in mounts.hidden):
        read.append(path)
        return
    for name in sorted(os.listdir(path)):
        _read(f"{path}/{name}", mounts, read)
