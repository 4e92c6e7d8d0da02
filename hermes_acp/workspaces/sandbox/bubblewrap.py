"""The words for bubblewrap that make a sandbox of what it is to show.

Knows: bwrap(1), and the order in which what lies over what. Does not know: what is shown, or why.
The watcher beside the agent ends sandboxes with it, so what a command leaves in the background may go on, as without
one; with the first process of a sandbox all others end, whatever they shed.
"""

import os
from collections.abc import Sequence

from msgspec import Struct

from hermes_acp.workspaces.confine import is_within
from hermes_acp.workspaces.sandbox.places import Places

FILTER_DESCRIPTOR = 9
EMPTY_FILE = "/dev/null"


class Room(Struct, frozen=True):
    """What one workspace's sandboxes have of their own: folders for temporary files, for the home, an empty one."""

    temporary: str
    home: str
    empty: str
    network: bool = False
    sockets: tuple[tuple[str, str], ...] = ()


def bubblewrap_words(
    program: str, places: Places, room: Room, cwd: str, home: str, *, in_terminal: bool
) -> tuple[str, ...]:
    """Give bubblewrap with its options, to be followed by a command; it takes a filter at FILTER_DESCRIPTOR."""
    words = [program, "--unshare-all", "--cap-drop", "ALL", "--seccomp", str(FILTER_DESCRIPTOR)]
    words += ["--share-net"] if room.network else []
    words += [] if in_terminal else ["--new-session"]
    for path in places.system:
        link = os.path.islink(path)
        words += ["--symlink", os.readlink(path), path] if link else ["--ro-bind", path, path]
    # To root, privileges or not, /proc/sys is its own, and one file there names a program that the kernel runs.
    words += ["--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--dir", "/run"]
    words += ["--bind", room.temporary, "/tmp", "--symlink", "/tmp", "/var/tmp"]
    if room.network:
        words += _name_service()
    if _has_own_home(home, places.writable):
        words += ["--bind", room.home, home]
    words += _bindings(
        "--ro-bind", [path for path in places.read_only if not _is_shown(path, places)], places
    )
    words += _bindings("--bind", (*places.writable, *places.pinned), places)
    words += _bindings("--ro-bind", [path for path in places.read_only if _is_shown(path, places)], places)
    words += _bindings("--ro-bind", places.kept, places)
    for each in places.stand_ins:
        words += ["--ro-bind", each.path if each.content is not None else room.empty, each.path]
    for path in sorted(places.hidden):
        if any(is_within(path, shown) for shown in (*places.system, *places.read_only, *places.writable)):
            words += ["--tmpfs", path] if os.path.isdir(path) else ["--ro-bind", EMPTY_FILE, path]
    for outside, inside in room.sockets:
        words += ["--ro-bind", outside, inside]
    return (*words, "--chdir", cwd, "--")


def _bindings(option: str, paths: Sequence[str], places: Places) -> list[str]:
    """Show paths at their place; one that a link in a writable folder leads to is somewhere else, and not shown."""
    words: list[str] = []
    for path in sorted(paths):
        source = os.path.realpath(path)
        if source == path or not any(is_within(path, each) and path != each for each in places.writable):
            words += (option, source, path)
    return words


def _is_shown(path: str, places: Places) -> bool:
    """Tell whether a path lies in a folder that is writable."""
    return any(is_within(path, folder) for folder in places.writable)


def _has_own_home(home: str, writable: Sequence[str]) -> bool:
    return len(home) > 1 and os.path.isabs(home) and not any(is_within(home, folder) for folder in writable)


def _name_service() -> list[str]:
    """Show the file that names the servers of names, which often is a link into /run."""
    whole = os.path.realpath("/etc/resolv.conf")
    return ["--ro-bind-try", whole, whole] if is_within(whole, "/run") else []
