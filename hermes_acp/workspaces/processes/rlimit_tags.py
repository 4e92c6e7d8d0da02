"""A tag on a command's processes that no clean environment and no session of its own takes off.

Knows: the limit of file locks (getrlimit(2)), which the kernel has not looked at since Linux 2.4.25 and every child
inherits. Does not know: commands. A process that means to can take the tag off; none does by accident.
"""

import resource
import sys
from collections.abc import Sequence
from typing import Final

from hermes_acp.storage.descriptor_limit import inherited_limit

TAG_LIMIT: Final = 10  # RLIMIT_LOCKS, on every architecture
SHOWN_LIMIT: Final = "Max file locks"
"""What the kernel calls the limit in /proc/PID/limits."""
TAG_SCRIPT: Final = '{ ulimit -w "$0" || ulimit -x "$0"; ulimit -Sn "$1"; } 2>/dev/null; shift; exec "$@"'
"""What a shell does that is given a tag, a limit of open files and a command."""


def tag_of(mark: str) -> int:
    """Return the tag of a mark, which ends in hexadecimal digits behind a hyphen; 0 for none."""
    digits = mark.rpartition("-")[2]
    return int(digits[:15], 16) if len(digits) >= 15 else 0


def tagged_argv(tag: int, argv: Sequence[str]) -> tuple[str, ...]:
    """Return a command's words behind those of a shell that takes the tag on before it becomes the command."""
    if not sys.platform.startswith("linux") or not tag:
        return tuple(argv)
    limit = inherited_limit()
    return ("/bin/sh", "-c", TAG_SCRIPT, str(tag), str(limit) if limit >= 0 else "unlimited", *argv)


def has_tag(pid: int, tag: int) -> bool:
    """Return whether a process has a tag."""
    if not sys.platform.startswith("linux") or not tag:
        return False
    try:
        return resource.prlimit(pid, TAG_LIMIT)[1] == tag
    except (OSError, ValueError):
        return False
