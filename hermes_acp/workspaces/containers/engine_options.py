"""Command-line options for docker and podman.

These options define everything that a container can access. They come from the user's own settings, so no workspace
file can extend them.
"""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.git.git_entries import directories
from hermes_acp.workspaces.path_confinement import is_within
from hermes_acp.workspaces.sandbox.sandbox_policy import GuardedNames

OWNER_LABEL: Final = "hermes-acp.owner"
FOLDER: Final = "/tmp"
PROTECTED: Final = (".git/hooks", ".git/config", ".git/info", ".git/modules", ".hermes", ".vscode", ".idea")
SETTINGS_ENTRIES: Final = ("hooks", "config", "config.worktree")
"""The files with git's settings and hooks, in the git directory of a repository and of its linked work trees."""
SYSTEM_FOLDERS: Final = (
    "/bin", "/boot", "/dev", "/etc", "/lib", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/var/lib", "/var/run",
)  # fmt: skip

CPU_RANGE_ERROR: Final = re.compile(r"range of CPUs is from [0-9.]+ to ([0-9]+(?:\.[0-9]+)?)", re.IGNORECASE)
"""Matches the error of an engine that was asked for more CPUs than its machine has."""

EngineName = Literal["docker", "podman"]


class Limits(Struct, frozen=True):
    """A container's resource limits, image and runtime; `network` is a network's name, or `none`."""

    image: str
    engine: EngineName = "docker"
    runtime: str = ""
    network: str = "none"
    memory_mb: int = 2048
    cpus: float = 2.0
    pids: int = 256
    tmp_mb: int = 512
    start_s: float = 60.0


class Mounts(Struct, frozen=True):
    """The folders that a container sees, at the same paths as outside.

    `fixed` paths cannot be changed from inside, `pinned` folders cannot be moved, and a `hidden` path appears as an
    empty folder. `replaced` lists paths, each with the path of its replacement. With `is_read_only`, nothing can be
    changed.
    """

    roots: tuple[str, ...]
    fixed: tuple[str, ...] = ()
    hidden: str = ""
    pinned: tuple[str, ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    is_read_only: bool = False

    def options(self) -> list[str]:
        """Return the engine's mount options."""
        ending = ",readonly" if self.is_read_only else ""
        opened = (*self.roots, *self.pinned)
        writable = [_mount(f"type=bind,source={path},target={path}{ending}", path) for path in opened]
        fixed = [_mount(f"type=bind,source={path},target={path},readonly", path) for path in self.fixed]
        fixed += (
            _mount(f"type=bind,source={source},target={path},readonly", path)
            for path, source in self.replaced
        )
        hidden = (
            [_mount(f"type=tmpfs,target={self.hidden},tmpfs-size=4096", self.hidden)] if self.hidden else []
        )
        return [*writable, *fixed, *hidden]


def plan_mounts(roots: Sequence[str], private: str = "", guarded: GuardedNames | None = None) -> Mounts:
    """Return the mounts for a session's folders. Raises BadRequest for system folders, which no container gets.

    If `private` is in one of the folders, it appears empty; `guarded` entries at their top level are read-only.
    """
    for root in roots:
        if root == "/" or any(is_within(root, each) or is_within(each, root) for each in SYSTEM_FOLDERS):
            raise BadRequest(
                f"{root} contains system folders, which no container may see.",
                hint="Open a project's own folder, or use another backend.",
            )
    outermost = tuple(
        root for root in roots if not any(is_within(root, other) and root != other for other in roots)
    )
    # Links are skipped: a mount would follow a link and protect its target instead.
    fixed = [os.path.join(root, name) for root in outermost for name in PROTECTED]
    fixed += [path for root in outermost for path in _settings_in(f"{root}/.git") if path not in fixed]
    fixed += _guarded_in(outermost, guarded or GuardedNames(), fixed)
    hidden = private if any(is_within(private, root) for root in outermost) else ""
    return Mounts(
        outermost,
        tuple(path for path in fixed if os.path.realpath(path) == path and os.path.exists(path)),
        hidden,
    )


def _settings_in(repository: str) -> list[str]:
    """Return the paths of settings and hooks, and of whole submodules."""
    places = [each for each in directories(repository) if not each.startswith(f"{repository}/modules/")]
    return [f"{place}/{name}" for place in places for name in SETTINGS_ENTRIES]


def _guarded_in(roots: Sequence[str], guarded: GuardedNames, known: Sequence[str]) -> list[str]:
    """Return the guarded entries at the top of some folders; only parts of a repository are guarded."""
    found: list[str] = []
    for root in roots:
        with suppress(OSError):
            found += (
                f"{root}/{name}"
                for name in sorted(os.listdir(root))
                if name != ".git" and guarded.holds(name)
            )
    return [path for path in found if path not in known]


def run_options(limits: Limits, mounts: Mounts, user: tuple[int, int], *, is_root: bool) -> list[str]:
    """Return the arguments of `docker run` up to the image, which define everything that a container may do."""
    maps_user = ["--userns=keep-id"] if limits.engine == "podman" and not is_root else []
    return [
        "--interactive",
        "--rm",
        "--pull=never",
        "--read-only",
        "--cap-drop=ALL",
        "--security-opt=no-new-privileges",
        f"--network={limits.network}",
        "--ipc=private",
        f"--pids-limit={limits.pids}",
        f"--memory={limits.memory_mb}m",
        f"--memory-swap={limits.memory_mb}m",
        f"--cpus={limits.cpus:g}",
        f"--user={user[0]}:{user[1]}",
        *maps_user,
        f"--tmpfs={FOLDER}:rw,exec,nosuid,nodev,size={limits.tmp_mb}m,mode=1777",
        f"--env=HOME={FOLDER}",
        "--workdir=/",
        "--hostname=hermes",
        "--entrypoint=/bin/sh",
        *([f"--runtime={limits.runtime}"] if limits.runtime else []),
        *mounts.options(),
    ]


def cpu_limit_in(complaint: str) -> float | None:
    """Return the number of CPUs that an engine offers, according to its error when asked for more."""
    found = CPU_RANGE_ERROR.search(complaint)
    return float(found[1]) if found else None


def _mount(option: str, path: str) -> str:
    if any(character in path for character in ',"\n\r'):
        raise BadRequest(
            f"{path!r} cannot be mounted in a container.",
            hint="Rename it without commas and quotation marks.",
        )
    return f"--mount={option}"


def is_mountable(path: str) -> bool:
    """Return whether a path can be used in the options of every engine."""
    return not any(character in path for character in ',:\\"\n\r')
