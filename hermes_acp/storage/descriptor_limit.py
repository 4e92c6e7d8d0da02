"""The limit on open files of this process, and the refusal of work that would exceed it.

The soft limit is raised at startup, as far as the system allows, and restored for every child process. New
sessions are refused while the remaining descriptors are reserved for open sessions, each of whose turns opens
more files.
"""

import errno
import os
import resource
import sys
from contextlib import suppress
from functools import cache
from typing import Final

from hermes_acp.core.errors import DescriptorLimitError

MAX_SOFT_LIMIT: Final = 1 << 16
OPEN_MAX: Final = 10_240
"""The maximum that macOS allows although its hard limit says "unlimited". Source: setrlimit(2), <sys/syslimits.h>."""
MAX_RESERVE: Final = 256
RESERVED_SHARE: Final = 4
SHORTAGE: Final = frozenset({errno.EMFILE, errno.ENFILE})


def raise_limit() -> None:
    """Raise the soft limit to the hard limit. Call this before starting anything."""
    soft, hard = _inherited()
    wanted = MAX_SOFT_LIMIT if hard == resource.RLIM_INFINITY else min(hard, MAX_SOFT_LIMIT)
    if soft == resource.RLIM_INFINITY:
        return
    for limit in (wanted, OPEN_MAX):
        if soft < limit:
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
                return


def restore_limit(pid: int) -> None:
    """Restore the original limit in a new child process, because some programs scan every descriptor below the
    limit.
    """
    if sys.platform == "linux" and resource.getrlimit(resource.RLIMIT_NOFILE)[0] != _inherited()[0]:
        with suppress(OSError, ValueError):  # the child may have ended already
            resource.prlimit(pid, resource.RLIMIT_NOFILE, _inherited())


def soft_limit() -> int:
    """Return the maximum number of files that this process may currently have open."""
    soft = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MAX_SOFT_LIMIT if soft == resource.RLIM_INFINITY else soft


def inherited_limit() -> int:
    """Return the soft limit this process started with, which its commands should inherit; -1 means unlimited."""
    return _inherited()[0]


def require_room(what: str) -> None:
    """Raise DescriptorLimitError, whose message begins with `what`, if only the reserved descriptors are left."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    try:
        count = len(os.listdir("/dev/fd"))
    except OSError as error:
        if error.errno in SHORTAGE:
            raise shortage(what) from error
        return
    if limit != resource.RLIM_INFINITY and count > limit - min(MAX_RESERVE, limit // RESERVED_SHARE):
        raise shortage(what)


def shortage(what: str) -> DescriptorLimitError:
    """Return the error for running out of descriptors; its message begins with `what`."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return DescriptorLimitError(
        f"{what}: this process may have {limit:,} files open and is close to that limit.",
        hint="Close sessions you do not need, or start hermes-acp with a higher limit (ulimit -n).",
        retryable=True,
    )


@cache
def _inherited() -> tuple[int, int]:
    """Return the limits this process started with. The first call must precede raising them."""
    return resource.getrlimit(resource.RLIMIT_NOFILE)
