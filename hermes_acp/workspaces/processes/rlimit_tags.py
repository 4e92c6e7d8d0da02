"""A tag on a command's processes that neither a clean environment nor a session of their own removes.

The tag is the limit of file locks (getrlimit(2)), which the kernel has ignored since Linux 2.4.25 and every
child inherits. A process that means to can remove it; none does by accident.
"""

import resource
import sys
from collections.abc import Sequence
from typing import Final

from hermes_acp.storage.descriptor_limit import inherited_limit

TAG_LIMIT: Final = 10  # RLIMIT_LOCKS, on every architecture
SHOWN_LIMIT: Final = "Max file locks"
"""The name of the limit in /proc/PID/limits."""
TAG_SCRIPT: Final = '{ ulimit -w "$0" || ulimit -x "$0"; ulimit -Sn "$1"; } 2>/dev/null; shift; exec "$@"'
"""A shell script that takes a tag, a limit of open files and a command."""


def tag_of(mark: str) -> int:
    """Return the tag of a mark, which ends in a hyphen and hexadecimal digits; 0 for none."""
    digits = mark.rpartition("-")[2]
    return int(digits[:15], 16) if len(digits) >= 15 else 0


def tagged_argv(tag: int, argv: Sequence[str]) -> tuple[str, ...]:
    """Return a command's words preceded by a shell that sets the tag before it becomes the command."""
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
