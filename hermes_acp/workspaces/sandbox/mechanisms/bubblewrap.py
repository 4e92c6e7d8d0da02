"""Build the bubblewrap arguments for a sandbox (bwrap(1)), with its mounts in the right order.

The orphan reaper kills sandboxes when the agent is killed, so a command's background processes may continue as they
would without a sandbox. When a sandbox's first process ends, all others end too, even detached ones.
"""

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from hermes_acp.workspaces.path_confinement import is_within
from hermes_acp.workspaces.sandbox.path_handles import PathHandles
from hermes_acp.workspaces.sandbox.sandbox_mounts import SandboxMounts
from hermes_acp.workspaces.sandbox.sandbox_policy import CommandMode

EMPTY_FILE = "/dev/null"


class SandboxResources(Struct, frozen=True):
    """The folders of one workspace's sandboxes: for temporary files, for the home, and an empty one.

    `filter` is a seccomp filter; `grounds` are the resolved paths of folders that are shown as writable.
    """

    temporary: str
    home: str
    empty: str
    network: bool = False
    sockets: tuple[tuple[str, str], ...] = ()
    filter: bytes = b""
    grounds: Mapping[str, str] = MappingProxyType({})


def bubblewrap_args(
    program: str,
    mounts: SandboxMounts,
    resources: SandboxResources,
    cwd: str,
    home: str,
    path_handles: PathHandles,
    mode: CommandMode,
) -> tuple[str, ...]:
    """Return the bubblewrap command with its options, to be followed by a command.

    The process must inherit every descriptor in `path_handles`.
    """
    words = [
        program,
        "--unshare-all",
        "--cap-drop",
        "ALL",
        "--seccomp",
        str(path_handles.keep(resources.filter)),
    ]
    words += ["--share-net"] if resources.network else []
    words += [] if mode.in_terminal else ["--new-session"]
    words += ["--as-pid-1"] if mode.opens_git else []
    for path in mounts.system:
        link = os.path.islink(path)
        words += ["--symlink", os.readlink(path), path] if link else ["--ro-bind", path, path]
    # Root owns /proc/sys, privileged or not, and one file there names a program that the kernel runs.
    words += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--dir", "/run"]
    for folder in ("/tmp", "/var/tmp"):  # a link would be followed when folders below it are shown
        words += _held("--bind", resources.temporary, folder, path_handles)
    if resources.network:
        words += _name_service()
    if _has_own_home(home, mounts.writable):
        words += _held("--bind", resources.home, home, path_handles)
    shown = [path for path in mounts.read_only if _is_shown(path, mounts)]
    for path in sorted(each for each in mounts.read_only if each not in shown):
        words += ["--ro-bind", os.path.realpath(path), path]
    opened = "--ro-bind" if mounts.is_read_only else "--bind"
    for path in sorted((*mounts.writable, *mounts.pinned)):
        words += _held(opened, resources.grounds.get(path, path), path, path_handles)
    for path in (*sorted(shown), *sorted(mounts.kept)):
        words += _held("--ro-bind", path, path, path_handles)
    for each in mounts.placeholders:
        source = each.path if each.content is not None else resources.empty
        words += _held("--ro-bind", source, each.path, path_handles)
    visible = (*mounts.system, *mounts.read_only, *mounts.writable)
    for each in mounts.masked:
        is_shown = each.path not in mounts.hidden and any(is_within(each.path, folder) for folder in visible)
        if each.content is not None and is_shown:
            words += ["--ro-bind-data", str(path_handles.keep(each.content)), each.path]
    for path in sorted(mounts.hidden):
        if any(is_within(path, folder) for folder in visible):
            words += ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", EMPTY_FILE, path]
    for outside, inside in resources.sockets:
        words += _held("--ro-bind", outside, inside, path_handles)
    return (*words, "--chdir", cwd, "--")


def _held(option: str, source: str, path: str, path_handles: PathHandles) -> list[str]:
    """Return the options that show `source`, even if a link replaces it later; show nothing if it is already a link."""
    if not path_handles.are_taken:
        return [option, source, path] if os.path.realpath(source) == source else []
    held = path_handles.hold(source)
    return [] if held is None else [f"{option}-fd", str(held), path]


def _is_shown(path: str, mounts: SandboxMounts) -> bool:
    """Return whether a path is in a writable folder."""
    return any(is_within(path, folder) for folder in mounts.writable)


def _has_own_home(home: str, writable: Sequence[str]) -> bool:
    return len(home) > 1 and os.path.isabs(home) and not any(is_within(home, folder) for folder in writable)


def _name_service() -> list[str]:
    """Return the options that show the file with the DNS servers, which is often a link into /run."""
    whole = os.path.realpath("/etc/resolv.conf")
    return ["--ro-bind-try", whole, whole] if is_within(whole, "/run") else []
