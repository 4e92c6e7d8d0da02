"""Set limits on the processes of a confined command, with shell commands (`ulimit`)."""

import os
import platform
import re
from contextlib import suppress
from typing import Final

from hermes_acp.workspaces.sandbox.sandbox_policy import SandboxPolicy

SHELL: Final = "/bin/sh"
INNER_SHELL: Final = '{ ulimit -u $1 || ulimit -p $1; } 2>/dev/null; shift; exec "$@"'
PER_NAMESPACE_KERNEL: Final = (5, 14)
"""The kernel version from which a user's processes are counted per user namespace."""
BLOCK_BYTES: Final = 512


def process_ulimits(bounds: SandboxPolicy, tag: int) -> str:
    """Return the limits for each of a command's processes, including the `tag` that identifies them."""
    words = [
        f"{{ ulimit -w {tag} || ulimit -x {tag}; }} 2>/dev/null",
        "ulimit -c 0",
        f"ulimit -d {bounds.memory() // 1024}",
    ]
    words += [f"ulimit -f {bounds.file_bytes // BLOCK_BYTES}"] if bounds.file_bytes else []
    words += [f"ulimit -t {bounds.cpu_s}"] if bounds.cpu_s else []
    return "; ".join(words)


def process_count_limit(most: int, *, has_namespace: bool) -> tuple[str, ...]:
    """Return the limit on a command's number of processes, or nothing for root, whose processes have no limit.

    Without a separate user namespace, they are counted together with all of this user's other processes.
    """
    if os.getuid() == 0:
        return ()
    if not has_namespace or _kernel() < PER_NAMESPACE_KERNEL:
        most += _tasks_now()
    return (SHELL, "-c", INNER_SHELL, "sh", str(most))


def _kernel() -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", platform.release())[:2])


def _tasks_now() -> int:
    with suppress(OSError, ValueError, IndexError), open("/proc/loadavg", encoding="ascii") as file:
        return int(file.read().split()[3].partition("/")[2])
    return 0
