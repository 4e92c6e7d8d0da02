"""Detect which confinement method this machine supports by trying them, which takes a few milliseconds."""

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
from hermes_acp.workspaces.sandbox.mechanisms.landlock_apply import landlock_abi
from hermes_acp.workspaces.sandbox.mechanisms.seatbelt import PROGRAM as SEATBELT
from hermes_acp.workspaces.sandbox.mechanisms.seatbelt_check import find_seatbelt_fault
from hermes_acp.workspaces.sandbox.mechanisms.seccomp import supports_filters

SandboxMechanism = Literal["bubblewrap", "landlock", "seatbelt", "none"]
PROBE_SCRIPT: Final = ("--unshare-all", "--as-pid-1", "--proc", "/proc", "--dev", "/dev", "--", "/bin/true")
PROBE_TIMEOUT_S = 10.0
HOW_TO_FIX: Final[Mapping[SandboxMechanism, str]] = MappingProxyType(
    {
        "bubblewrap": "",
        "landlock": "Install bubblewrap (package bubblewrap) to give sandboxed commands more freedom safely.",
        "seatbelt": "",
        "none": "Only a few fixed commands run without asking (docs/sandbox.md). On Linux, install bubblewrap.",
    }
)


class DetectedSandbox(Struct, frozen=True):
    """A confinement method, its program if any, and a remark about it.

    A program that `accepts_descriptors` receives the paths to mount as descriptors and mounts nothing else.
    """

    way: SandboxMechanism
    program: str = ""
    remark: str = ""
    accepts_descriptors: bool = False

    @property
    def mounts(self) -> bool:
        """Whether commands see their own mounts, rather than the machine's folders with fewer rights."""
        return self.way == "bubblewrap"


SandboxDetector = Callable[[Mapping[str, str], Sequence[str]], DetectedSandbox]


def detect_sandbox(environment: Mapping[str, str], roots: Sequence[str]) -> DetectedSandbox:
    """Return the best available method; programs inside `roots` are never used for it."""
    if sys.platform == "darwin":
        return detect_seatbelt(SEATBELT)
    if not sys.platform.startswith("linux"):
        return DetectedSandbox("none", remark=f"There is no sandbox for commands on {sys.platform}.")
    if not supports_filters():
        return DetectedSandbox("none", remark="There is no sandbox for commands on this architecture.")
    program = ripgrep.find_program("bwrap", environment, roots)
    trouble = "bubblewrap is not installed"
    if program:
        if not _probe(program, accepts_descriptors=True):
            return DetectedSandbox("bubblewrap", program, accepts_descriptors=True)
        trouble = _probe(program, accepts_descriptors=False)
        if not trouble:
            return DetectedSandbox("bubblewrap", program)
    if landlock_version() > 0:
        return DetectedSandbox(
            "landlock",
            remark=f"Commands run in a Landlock sandbox, which is stricter than necessary: {trouble}.",
        )
    return DetectedSandbox(
        "none", remark=f"There is no sandbox for commands: {trouble}, and the kernel has no Landlock."
    )


def detect_landlock(environment: Mapping[str, str], roots: Sequence[str]) -> DetectedSandbox:
    """Return Landlock, even if other methods are available."""
    return DetectedSandbox("landlock" if supports_filters() and landlock_version() > 0 else "none")


@cache
def detect_seatbelt(program: str) -> DetectedSandbox:
    """Return macOS's own sandbox if it enforces our profiles on this machine."""
    trouble = find_seatbelt_fault(program)
    if trouble:
        return DetectedSandbox("none", remark=f"There is no sandbox for commands: {trouble}.")
    return DetectedSandbox(
        "seatbelt", program, remark="Commands run in macOS's sandbox, which is stricter than necessary."
    )


@cache
def _probe(program: str, *, accepts_descriptors: bool) -> str:
    """Return why bubblewrap does not work here or with these options, or an empty string if it does."""
    whole = os.open("/", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    shown = ("--ro-bind-fd", str(whole), "/") if accepts_descriptors else ("--ro-bind", "/", "/")
    try:
        done = subprocess.run(
            (program, *shown, *PROBE_SCRIPT),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_TIMEOUT_S,
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
    return f"bubblewrap cannot create namespaces here ({told or f'code {done.returncode}'})"


def landlock_version() -> int:
    """Return this kernel's Landlock version, or 0 if it has none."""
    return landlock_abi(ctypes.CDLL(None, use_errno=True)) if sys.platform.startswith("linux") else 0
