"""A real `systemd --user` for a user without a login, where systemd does not run. It needs root.

The manager runs in its own mount namespace, in which the machine looks as if systemd had started it. The test's Python
is mounted there even if it is in a folder that only root can read.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
import anyio.abc

from tests.architecture.sources import ROOT
from tests.e2e.agent_process import COMMAND, WAIT_S, Finished, run_command

ACCOUNT = "games"
"""An account that every Debian has and nobody uses."""
PROGRAMS = ("systemd", "systemctl", "setpriv", "nsenter", "unshare", "bwrap")
CGROUPS = Path("/sys/fs/cgroup")
POLL_S = 0.05


def missing() -> str:
    """Return why no user manager can be started here, or an empty string."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "it needs Linux and root"
    if lacking := [
        name for name in PROGRAMS if shutil.which(name, path="/usr/lib/systemd:/usr/bin:/bin") is None
    ]:
        return f"{', '.join(lacking)} is not installed"
    if not all((place / "cgroup.procs").is_file() for place in _hierarchies()):
        return "there are no cgroups for systemd"
    return ""


def _hierarchies() -> list[Path]:
    """Return where systemd keeps its control groups: one version 2 hierarchy, or two."""
    if (CGROUPS / "cgroup.controllers").is_file():
        return [CGROUPS]
    return [CGROUPS / "systemd", CGROUPS / "unified"]


class UserManager:
    """A running user manager."""

    def __init__(self, folder: Path, process: int) -> None:
        self.folder = folder
        self.home = folder / "home"
        path = f"{Path(COMMAND).parent}:/usr/bin:/bin"
        self.variables = {"HOME": str(self.home), "PATH": path, "XDG_RUNTIME_DIR": str(folder / "run")}
        self._process = process

    def command(self, *words: str) -> tuple[str, ...]:
        """Return the command prefix that runs as the user, in the manager's mount namespace."""
        variables = [f"{name}={value}" for name, value in self.variables.items()]
        inside = ("nsenter", f"--target={self._process}", "--mount")
        return (*inside, *_as_user(), "env", "-i", f"--chdir={self.home}", *variables, *words)

    async def run(self, *words: str) -> Finished:
        """Run a command as the user, to its end."""
        program, *arguments = self.command(*words)
        return await run_command(*arguments, environment=os.environ, cwd=self.folder, command=program)

    def write(self, name: str, text: str) -> Path:
        """Write a file as the user."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        for each in (path, *path.relative_to(self.home).parents):
            shutil.chown(self.home / each, ACCOUNT)
        return path


def _as_user() -> tuple[str, ...]:
    return ("setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups")


@asynccontextmanager
async def user_manager() -> AsyncGenerator[UserManager]:
    """Start a user manager, and end it with all its services."""
    folder = Path(tempfile.mkdtemp(prefix="user-"))
    folder.chmod(0o755)
    groups = [place / folder.name for place in _hierarchies()]
    for place in (*groups, folder / "run", folder / "home"):
        place.mkdir(mode=0o700)
        shutil.chown(place, ACCOUNT)
    for group in groups:
        for file in ("cgroup.procs", "cgroup.subtree_control", "cgroup.threads", "tasks"):
            if (group / file).exists():
                shutil.chown(group / file, ACCOUNT)
    script = folder / "start"
    script.write_text(_script(folder, groups))
    try:
        with (folder / "log").open("wb") as log:
            async with await anyio.open_process(
                ["unshare", "--mount", "bash", str(script)], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            ) as process:
                manager = UserManager(folder, process.pid)
                try:
                    await _until_it_runs(manager, process)
                    yield manager
                finally:
                    process.terminate()
                    with anyio.move_on_after(WAIT_S, shield=True):
                        await process.wait()
    finally:
        for group in groups:
            _remove_group(group)
        shutil.rmtree(folder, ignore_errors=True)


async def _until_it_runs(manager: UserManager, process: anyio.abc.Process) -> None:
    state = await manager.run("systemctl", "--user", "is-system-running")
    with anyio.move_on_after(WAIT_S):
        while state.output.strip() != "running" and process.returncode is None:
            await anyio.sleep(POLL_S)
            state = await manager.run("systemctl", "--user", "is-system-running")
    assert state.output == "running\n", (state, (manager.folder / "log").read_text())


def _script(folder: Path, groups: list[Path]) -> str:
    """Return the script that prepares the mounts and becomes the manager."""
    lines = ["set -e", *(f"echo $$ > {group}/cgroup.procs" for group in groups)]
    lines += ["mount --make-rprivate /", "mount --rbind /run /run"]
    if not Path("/run/systemd/system").is_dir():
        # What a machine has if systemd was started: services get their mounts from the last two.
        lines += ["mkdir -p /run/systemd", "mount -t tmpfs tmpfs /run/systemd"]
        lines += ["mkdir /run/systemd/system /run/systemd/unit-root /run/systemd/mount-rootfs"]
    shown = [path for path in {Path(sys.prefix), Path(sys.base_prefix), ROOT} if _closed_parent(path)]
    for number, path in enumerate(shown):
        stage = folder / f"stage-{number}"
        lines += [f"mkdir {stage}", f"mount --bind {path} {stage}"]
    lines += [
        f"mount -t tmpfs -o mode=755 tmpfs {parent}" for parent in sorted({*map(_closed_parent, shown)})
    ]
    for number, path in enumerate(shown):
        lines += [f"mkdir -p {path}", f"mount --bind {folder}/stage-{number} {path}"]
    variables = f"HOME={folder}/home USER={ACCOUNT} PATH=/usr/bin:/bin XDG_RUNTIME_DIR={folder}/run"
    program = shutil.which("systemd", path="/usr/lib/systemd:/usr/bin:/bin")
    lines += [f"exec {' '.join(_as_user())} env -i {variables} SYSTEMD_LOG_TARGET=console {program} --user"]
    return "\n".join(lines)


def _closed_parent(path: Path) -> str:
    """Return the topmost folder above a path that other users may not enter, or an empty string."""
    closed = [parent for parent in path.parents if not parent.stat().st_mode & 0o001]
    return str(closed[-1]) if closed else ""


def _remove_group(group: Path) -> None:
    """Remove a control group and its subgroups, whose processes have ended."""
    for place, _, _ in os.walk(group, topdown=False):
        with suppress(OSError):
            os.rmdir(place)
