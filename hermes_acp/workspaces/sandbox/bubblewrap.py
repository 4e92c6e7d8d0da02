"""The words for bubblewrap that make a sandbox of what it is to show.

Knows: bwrap(1), and the order in which what lies over what. Does not know: what is shown, or why.
The watcher beside the agent ends sandboxes with it, so what a command leaves in the background may go on, as without
one; with the first process of a sandbox all others end, whatever they shed.
"""

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from hermes_acp.workspaces.confine import is_within
from hermes_acp.workspaces.sandbox.anchors import Anchors
from hermes_acp.workspaces.sandbox.git_use import CommandMode
from hermes_acp.workspaces.sandbox.places import Places

EMPTY_FILE = "/dev/null"


class Room(Struct, frozen=True):
    """What one workspace's sandboxes have of their own: folders for temporary files, for the home, an empty one.

    `filter` is of system calls; `grounds` are the resolved paths of folders that may be written as they are shown.
    """

    temporary: str
    home: str
    empty: str
    network: bool = False
    sockets: tuple[tuple[str, str], ...] = ()
    filter: bytes = b""
    grounds: Mapping[str, str] = MappingProxyType({})


def bubblewrap_words(
    program: str, places: Places, room: Room, cwd: str, home: str, anchors: Anchors, mode: CommandMode
) -> tuple[str, ...]:
    """Give bubblewrap with its options, to be followed by a command; it is to be passed all that `anchors` holds."""
    words = [program, "--unshare-all", "--cap-drop", "ALL", "--seccomp", str(anchors.keep(room.filter))]
    words += ["--share-net"] if room.network else []
    words += [] if mode.in_terminal else ["--new-session"]
    words += ["--as-pid-1"] if mode.opens_git else []
    for path in places.system:
        link = os.path.islink(path)
        words += ["--symlink", os.readlink(path), path] if link else ["--ro-bind", path, path]
    # To root, privileges or not, /proc/sys is its own, and one file there names a program that the kernel runs.
    words += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--dir", "/run"]
    words += [*_held("--bind", room.temporary, "/tmp", anchors), "--symlink", "/tmp", "/var/tmp"]
    if room.network:
        words += _name_service()
    if _has_own_home(home, places.writable):
        words += _held("--bind", room.home, home, anchors)
    shown = [path for path in places.read_only if _is_shown(path, places)]
    for path in sorted(each for each in places.read_only if each not in shown):
        words += ["--ro-bind", os.path.realpath(path), path]
    opened = "--ro-bind" if places.is_read_only else "--bind"
    for path in sorted((*places.writable, *places.pinned)):
        words += _held(opened, room.grounds.get(path, path), path, anchors)
    for path in (*sorted(shown), *sorted(places.kept)):
        words += _held("--ro-bind", path, path, anchors)
    for each in places.stand_ins:
        source = each.path if each.content is not None else room.empty
        words += _held("--ro-bind", source, each.path, anchors)
    for path in sorted(places.hidden):
        if any(is_within(path, shown) for shown in (*places.system, *places.read_only, *places.writable)):
            words += ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", EMPTY_FILE, path]
    for outside, inside in room.sockets:
        words += _held("--ro-bind", outside, inside, anchors)
    return (*words, "--chdir", cwd, "--")


def _held(option: str, source: str, path: str, anchors: Anchors) -> list[str]:
    """Show what is at `source`, also if a link is put there meanwhile; nothing where one leads there now."""
    if not anchors.are_taken:
        return [option, source, path] if os.path.realpath(source) == source else []
    held = anchors.hold(source)
    return [] if held is None else [f"{option}-fd", str(held), path]


def _is_shown(path: str, places: Places) -> bool:
    """Tell whether a path lies in a folder that is writable."""
    return any(is_within(path, folder) for folder in places.writable)


def _has_own_home(home: str, writable: Sequence[str]) -> bool:
    return len(home) > 1 and os.path.isabs(home) and not any(is_within(home, folder) for folder in writable)


def _name_service() -> list[str]:
    """Show the file that names the servers of names, which often is a link into /run."""
    whole = os.path.realpath("/etc/resolv.conf")
    return ["--ro-bind-try", whole, whole] if is_within(whole, "/run") else []
