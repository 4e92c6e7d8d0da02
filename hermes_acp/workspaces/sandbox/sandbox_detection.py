"""Which way of confining commands this machine has.

Knows: how to find out, by trying. Does not know: how a way is used. Finding out blocks for some milliseconds.
"""

import ctypes
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.workspaces import ripgrep
from hermes_acp.workspaces.sandbox.renunciation import abi
from hermes_acp.workspaces.sandbox.seccomp import has_filters

Way = Literal["bubblewrap", "landlock", "none"]
TRIAL: Final = ("--unshare-all", "--as-pid-1", "--proc", "/proc", "--dev", "/dev", "--", "/bin/true")
TRIAL_S = 10.0
HOW_TO_MEND: Final[Mapping[Way, str]] = MappingProxyType(
    {
        "bubblewrap": "",
        "landlock": "Installed bubblewrap (the package bubblewrap) gives commands more room, safely.",
        "none": "Without a question only a few fixed commands run (docs/sandbox.md). On Linux, install bubblewrap.",
    }
)


class Found(Struct, frozen=True):
    """A way to confine commands, its program if it is one, and what is to be said of it.

    A program that `takes_descriptors` is told by them what to mount, and mounts nothing else.
    """

    way: Way
    program: str = ""
    remark: str = ""
    takes_descriptors: bool = False


Finder = Callable[[Mapping[str, str], Sequence[str]], Found]


def find_way(environment: Mapping[str, str], roots: Sequence[str]) -> Found:
    """Give the best way there is; programs in `roots` are not taken for it."""
    if not sys.platform.startswith("linux"):
        return Found("none", remark=f"There is no sandbox for commands on {sys.platform}.")
    if not has_filters():
        return Found("none", remark="There is no sandbox for commands on this architecture.")
    program = ripgrep.find_program("bwrap", environment, roots)
    trouble = "bubblewrap is not installed"
    if program:
        if not _try_out(program, takes_descriptors=True):
            return Found("bubblewrap", program, takes_descriptors=True)
        trouble = _try_out(program, takes_descriptors=False)
        if not trouble:
            return Found("bubblewrap", program)
    if landlock_version() > 0:
        return Found("landlock", remark=f"Landlock confines commands, more strictly than need be: {trouble}.")
    return Found(
        "none", remark=f"There is no sandbox for commands: {trouble}, and the kernel has no Landlock."
    )


def find_landlock(environment: Mapping[str, str], roots: Sequence[str]) -> Found:
    """Give Landlock alone, whatever else there is."""
    return Found("landlock" if has_filters() and landlock_version() > 0 else "none")


@cache
def _try_out(program: str, *, takes_descriptors: bool) -> str:
    """Give why bubblewrap does not work here, or not this way; empty where it does."""
    whole = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    shown = ("--ro-bind-fd", str(whole), "/") if takes_descriptors else ("--ro-bind", "/", "/")
    try:
        done = subprocess.run(
            (program, *shown, *TRIAL),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TRIAL_S,
            env={},
            check=False,
            pass_fds=(whole,),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not run ({error})"
    finally:
        os.close(whole)
    if done.returncode == 0:
        return ""
    told = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
    return f"bubblewrap cannot make namespaces here ({told or f'code {done.returncode}'})"


def landlock_version() -> int:
    """Give the version of Landlock this kernel has, 0 for none."""
    return abi(ctypes.CDLL(None, use_errno=True)) if os.name == "posix" else 0
