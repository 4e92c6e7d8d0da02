"""Real `hermes-acp` processes: their environment, their start, their end, and what they leave behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, cast

import anyio
import anyio.abc
from msgspec import Struct

from tests.model_server import ModelServer

COMMAND = str(Path(sys.executable).with_name("hermes-acp"))
VENDORS = ("openai_compatible", "anthropic")
WAIT_S = 90
"""Time limit for every wait in these tests."""

SLEEPER = 'echo "pid $$"; exec sleep 300'
"""A command that prints its own process ID, then stays."""


def agent_environment(
    home: Path, server: ModelServer | None = None, vendor: str = "openai_compatible", **more: str
) -> dict[str, str]:
    """Return the variables of an agent with the home `home`; its model is the scripted server if there is one."""
    variables = {"PATH": os.environ["PATH"], "HOME": str(home)}
    if server is not None and vendor == "anthropic":
        variables |= {
            "ANTHROPIC_BASE_URL": server.anthropic_base_url,
            "ANTHROPIC_API_KEY": "sk-test-anthropic",
        }
    elif server is not None:
        variables |= {"OPENAI_BASE_URL": server.openai_base_url, "OPENAI_API_KEY": "sk-test-openai"}
    if server is not None:
        variables["HERMES_MODEL"] = "scripted-large"
    return variables | more


def configure(home: Path, text: str) -> Path:
    """Write `config.yaml` of the home folder below `home`."""
    path = home / ".hermes" / "config.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


class Finished(Struct, frozen=True):
    """The exit code of a finished command, and its output."""

    code: int
    output: str
    errors: str

    @property
    def report(self) -> dict[str, Any]:
        """Return the last line of the output, parsed as JSON."""
        return cast("dict[str, Any]", json.loads(self.output.splitlines()[-1]))

    @property
    def events(self) -> list[dict[str, Any]]:
        """Return every line of the output, parsed as JSON."""
        return [json.loads(line) for line in self.output.splitlines()]


async def run_command(
    *arguments: str, environment: Mapping[str, str], cwd: Path, given: bytes = b"", command: str = COMMAND
) -> Finished:
    """Run a command to its end, within the usual time limit."""
    with anyio.fail_after(WAIT_S):
        done = await anyio.run_process(
            [command, *arguments], input=given, check=False, cwd=cwd, env=dict(environment)
        )
    return Finished(done.returncode, done.stdout.decode(), done.stderr.decode())


async def run_headless(
    *arguments: str, environment: Mapping[str, str], cwd: Path, given: bytes = b""
) -> Finished:
    """Run `hermes-acp run` to its end."""
    return await run_command("run", *arguments, environment=environment, cwd=cwd, given=given)


class Running:
    """A `hermes-acp run` that is still running."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self.process = process
        self.output = b""
        self._errors = b""

    async def wait_for_output(self, pattern: bytes) -> re.Match[bytes]:
        """Read standard output until it contains the pattern."""
        assert self.process.stdout
        while not (found := re.search(pattern, self.output)):
            self.output += await self.process.stdout.receive()
        return found

    def interrupt(self, number: signal.Signals) -> None:
        """Send a signal to this process only."""
        self.process.send_signal(number)

    async def finish(self) -> Finished:
        """Wait for the end; return the exit code and all output."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._read_output)
            tasks.start_soon(self._read_errors)
        return Finished(await self.process.wait(), self.output.decode(), self._errors.decode())

    async def _read_output(self) -> None:
        assert self.process.stdout
        async for piece in self.process.stdout:
            self.output += piece

    async def _read_errors(self) -> None:
        assert self.process.stderr
        async for piece in self.process.stderr:
            self._errors += piece


@asynccontextmanager
async def headless_running(
    *arguments: str, environment: Mapping[str, str], cwd: Path
) -> AsyncGenerator[Running]:
    """Start `hermes-acp run`; kill it at the end of the block if it is still running."""
    with anyio.fail_after(WAIT_S):
        process = await anyio.open_process(
            [COMMAND, "run", *arguments], stdin=subprocess.DEVNULL, env=dict(environment), cwd=cwd
        )
        async with process:
            try:
                yield Running(process)
            finally:
                if process.returncode is None:
                    process.kill()


def watch_process(pid: int) -> int:
    """Return a descriptor that becomes readable when the process ends, and that no later process inherits."""
    return os.pidfd_open(pid)


async def wait_for_end(pidfd: int, *, bound_s: float = WAIT_S) -> None:
    """Wait until the watched process has ended, then close the descriptor."""
    try:
        with anyio.fail_after(bound_s):
            await anyio.wait_readable(pidfd)
    finally:
        os.close(pidfd)


def pid_in(text: str | bytes) -> int:
    """Read the process ID that SLEEPER printed."""
    plain = text.decode() if isinstance(text, bytes) else text
    found = re.search(r"pid (\d+)", plain)
    assert found, f"no process number in {plain[:200]!r}"
    return int(found[1])


def mount_disk(folder: Path, options: str) -> str:
    """Mount a memory file system with these options; return why that failed, or an empty string."""
    folder.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        return "only root on Linux can mount a disk of its own"
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)],
        capture_output=True, text=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    return f"a disk cannot be mounted here: {done.stderr.strip()}" if done.returncode else ""


@contextmanager
def unwritable_folder(folder: Path) -> Generator[Path]:
    """Yield a folder that nobody can write to: a read-only disk for root, one without write permission for others."""
    if mount_disk(folder, "ro"):
        folder.chmod(0o500)
        try:
            yield folder
        finally:
            folder.chmod(0o700)
        return
    try:
        yield folder
    finally:
        unmount(folder)


def unmount(folder: Path) -> None:
    """Unmount the disk, even if it is in use."""
    subprocess.run(["umount", "--lazy", str(folder)], timeout=WAIT_S, check=True)
