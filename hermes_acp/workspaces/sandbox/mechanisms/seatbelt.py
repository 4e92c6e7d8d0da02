"""Build a profile for macOS's sandbox (sandbox-exec(1)).

In a profile the last rule that matches decides, and paths are those of the resolved file, so a link leads no further
than its target's rules. Rules apply to names, not to mounts, so a path that must keep its name needs a rule for every
folder above it. Paths are passed as parameters, because a profile is a program and a path could break out of a string.
This has not been run on macOS yet. Source: sandbox-exec(1), Apple's profiles in /System/Library/Sandbox/Profiles.
"""

import os
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from hermes_acp.workspaces.path_confinement import is_within
from hermes_acp.workspaces.sandbox.mechanisms.bubblewrap import SandboxResources
from hermes_acp.workspaces.sandbox.sandbox_mounts import SandboxMounts

PROGRAM: Final = "/usr/bin/sandbox-exec"
SYSTEM: Final = (
    "/System", "/Library/Apple", "/Library/Developer", "/Library/Frameworks", "/Library/Java",
    "/Applications/Xcode.app", "/private/etc", "/private/var/db/dyld", "/private/var/db/timezone",
    "/private/var/db/xcode_select_link", "/private/var/select",
)  # fmt: skip
"""Paths that system programs read, in addition to `sandbox_mounts.SYSTEM`; /Library as a whole contains keychains."""

# Other processes' variables are in kern.procargs2, so only the named values can be read.
FIXED: Final = """\
(version 1)
(deny default)
(allow process-exec process-fork)
(allow signal process-info* (target same-sandbox))
(allow file-read-metadata)
(allow file-read* (literal "/"))
(allow file-read* file-write-data file-ioctl
  (literal "/dev/null") (literal "/dev/zero") (literal "/dev/tty") (literal "/dev/dtracehelper"))
(allow file-read* (literal "/dev/random") (literal "/dev/urandom") (literal "/dev/autofs_nowait"))
(allow file-read* file-write-data (subpath "/dev/fd"))
(allow pseudo-tty)
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$"))
(allow ipc-posix-sem)
(allow sysctl-read
  (sysctl-name-prefix "hw.") (sysctl-name-prefix "machdep.cpu.") (sysctl-name-prefix "kern.os")
  (sysctl-name "kern.argmax") (sysctl-name "kern.hostname") (sysctl-name "kern.maxfilesperproc")
  (sysctl-name "kern.ngroups") (sysctl-name "kern.secure_kernel") (sysctl-name "kern.usrstack64")
  (sysctl-name "kern.version") (sysctl-name "vm.loadavg"))
(allow mach-lookup
  (global-name "com.apple.bsd.dirhelper") (global-name "com.apple.system.opendirectoryd.libinfo"))
"""
NETWORK: Final = """\
(allow system-socket)
(allow network-outbound (remote ip "*:*") (literal "/private/var/run/mDNSResponder"))
(allow network-inbound network-bind (local ip "*:*"))
(allow sysctl-read (sysctl-name-prefix "net."))
(allow mach-lookup
  (global-name "com.apple.SystemConfiguration.DNSConfiguration") (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.trustd.agent"))
"""


class Profile(Struct, frozen=True):
    """A profile and the values of its parameters, in the order of their numbers."""

    text: str
    parameters: tuple[str, ...]

    def arguments(self, program: str = PROGRAM) -> tuple[str, ...]:
        """Return the arguments to be followed by a command."""
        named = (f"-DP{number}={value}" for number, value in enumerate(self.parameters))
        return (program, *named, "-p", self.text, "--")


class _Rules:
    """The rules about paths, in the order in which they are added."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._lines: list[str] = []

    def add(self, decision: str, operations: str, kind: str, paths: Iterable[str]) -> None:
        """Add a rule for paths: `literal` for the path alone, `subpath` also for everything below it."""
        filters = "".join(
            f'\n  ({kind} (param "P{self._numbers.setdefault(path, len(self._numbers))}"))'
            for path in dict.fromkeys(paths)
        )
        if filters:
            self._lines.append(f"({decision} {operations}{filters})\n")

    def profile(self, before: str) -> Profile:
        """Return the profile, which starts with `before`."""
        return Profile(before + "".join(self._lines), tuple(self._numbers))


def build_profile(mounts: SandboxMounts, resources: SandboxResources) -> Profile:
    """Return the profile of a command that may see and change what the mounts define."""
    mounts = mounts.hiding_masked()
    written = [] if mounts.is_read_only else [_resolved(path, mounts) for path in mounts.writable]
    shown = [
        _resolved(path, mounts) for path in (*mounts.writable, *mounts.read_only, *mounts.system, *SYSTEM)
    ]
    own = [os.path.realpath(path) for path in (resources.temporary, resources.home)]
    missing = [each.path for each in mounts.placeholders]
    kept = [_resolved(path, mounts) for path in (*mounts.kept, *missing)]
    hidden = [_resolved(path, mounts) for path in mounts.hidden]
    pinned = [_resolved(path, mounts) for path in mounts.pinned]
    named = [above for path in (*kept, *hidden, *pinned) for above in _folders_above(path, written)]
    rules = _Rules()
    rules.add("allow", "file-read*", "subpath", shown)
    rules.add("allow", "file-write*", "subpath", written)
    rules.add("deny", "file-write*", "subpath", kept)
    rules.add("deny", "file-write-unlink", "literal", (*pinned, *named, *written))
    rules.add("deny", "file-read-data file-read-xattr file-write*", "subpath", hidden)
    rules.add(
        "allow", "file-read* file-write*", "subpath", own
    )  # inside a folder that is hidden from commands
    rules.add("deny", "file-write-setugid", "subpath", (*written, *own))
    return rules.profile(FIXED + (NETWORK if resources.network else ""))


def _resolved(path: str, mounts: SandboxMounts) -> str:
    """Resolve a path down to a writable folder; below it, commands could change what a link points to."""
    around = [folder for folder in mounts.writable if is_within(path, folder)]
    folder = max(around, key=len, default=path)
    return os.path.realpath(folder) + path[len(folder) :]


def _folders_above(path: str, folders: Sequence[str]) -> list[str]:
    """Return the folders between a path and the writable folder around it, because renaming one would move the path."""
    above: list[str] = []
    while any(is_within(path := os.path.dirname(path), folder) for folder in folders):
        above.append(path)
    return above
