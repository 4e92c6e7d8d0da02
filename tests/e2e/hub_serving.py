"""A real `hermes-acp hub` with users, whose profiles share a scripted model."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc
import psutil
import yaml

from tests.e2e.agent_process import COMMAND, WAIT_S, agent_environment, run_command
from tests.model_server import ModelServer

PASSED_ON = ["OPENAI_BASE_URL", "OPENAI_API_KEY", "HERMES_MODEL"]


class Hub:
    """One running hub, and its command line."""

    def __init__(self, home: Path, environment: Mapping[str, str]) -> None:
        self.folder = home / ".hermes" / "hub"
        self.home = home
        self.environment = environment
        self.process: anyio.abc.Process
        self.url = ""

    async def command(self, *words: str) -> str:
        """Run a command of the administrator; return its output."""
        done = await run_command(*words, environment=self.environment, cwd=self.home)
        assert done.code == 0, done
        return done.output.strip()

    async def add_user(self, name: str, *flags: str) -> str:
        """Add a user; return a personal token."""
        await self.command("users", "add", name, *flags)
        return await self.command("users", "token", name)

    def configure(self, **settings: object) -> None:
        """Write the settings."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "hub.yaml").write_text(yaml.safe_dump({"pass_variables": PASSED_ON, **settings}))

    async def start(self, *before: str) -> None:
        """Start the hub on a free port, after the given command prefix; return once it serves."""
        self.process = await anyio.open_process(
            [*before, COMMAND, "hub", "--listen", "127.0.0.1:0"],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=dict(self.environment),
            cwd=self.home,
        )
        said = b""
        assert self.process.stderr
        with anyio.fail_after(WAIT_S):
            while b"acp)" not in said:
                said += await self.process.stderr.receive()
        self.url = said.decode().partition("(clients: ")[2].partition(")")[0]

    def process_port(self) -> int:
        """Return the port that the hub itself listens on, for a proxy in front of it."""
        connections = psutil.Process(self.process.pid).net_connections("tcp")
        (port,) = {each.laddr[1] for each in connections if each.status == psutil.CONN_LISTEN}
        return port

    async def stop(self) -> int:
        """Stop the hub; return the exit code."""
        if self.process.returncode is None:
            self.process.terminate()
        with anyio.fail_after(WAIT_S):
            return await self.process.wait()

    def audit(self) -> str:
        """Return the audit log."""
        return (self.folder / "audit.jsonl").read_text()


@asynccontextmanager
async def hub_of(home: Path, model: ModelServer, **settings: object) -> AsyncGenerator[Hub]:
    """Yield a hub that has not started yet; kill it at the end if it is still running."""
    home.mkdir()
    hub = Hub(home, agent_environment(home, model))
    hub.configure(**settings)
    try:
        yield hub
    finally:
        with anyio.CancelScope(shield=True):
            if hub.url and hub.process.returncode is None:
                await hub.stop()
