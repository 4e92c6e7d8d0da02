"""A tag on a command's processes that survives a clean environment and a new session.

The tag is the file lock limit (getrlimit(2)), which the kernel has ignored since Linux 2.4.25 and which every child
inherits. A process can remove it deliberately, but not by accident.
"""

import resource
import sys
from collections.abc import Sequence
from typing import Final

from hermes_acp.storage.descriptor_limit import inherited_limit

TAG_LIMIT: Final = 10  # RLIMIT_LOCKS, on every architecture
SHOWN_LIMIT: Final = "Max file locks"
"""The limit's name in /proc/PID/limits."""
TAG_SCRIPT: Final = '{ ulimit -w "$0" || ulimit -x "$0"; ulimit -Sn "$1"; } 2>/dev/null; shift; exec "$@"'
"""A shell script whose arguments are a tag, a limit on open files and a command."""


def tag_of(mark: str) -> int:
    """Return the tag in a mark, which consists of the hexadecimal digits after its last hyphen, or 0 without one."""
    digits = mark.rpartition("-")[2]
    return int(digits[:15], 16) if len(digits) >= 15 else 0


def tagged_argv(tag: int, argv: Sequence[str]) -> tuple[str, ...]:
    """Return a command's words, preceded by a shell that sets the tag and then becomes the command."""
    if not sys.platform.startswith("linux") or not tag:
        return tuple(argv)
    limit = inherited_limit()
    return ("/bin/sh", "-c", TAG_SCRIPT, str(tag), str(limit) if limit >= 0 else "unlimited", *argv)


def has_any_tag(pid: int = 0) -> bool:
    """Return whether a process, by default this one, has the tag that every command of an agent inherits."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        return resource.prlimit(pid, TAG_LIMIT)[1] != resource.RLIM_INFINITY
    except (OSError, ValueError):
        return False


def has_tag(pid: int, tag: int) -> bool:
    """Return whether a process has a tag."""
    if not sys.platform.startswith("linux") or not tag:
        return False
    try:
        return resource.prlimit(pid, TAG_LIMIT)[1] == tag
    except (OSError, ValueError):
        return False
