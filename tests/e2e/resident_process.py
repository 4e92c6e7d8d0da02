"""A real `hermes-acp daemon run` process."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.abc

from tests.e2e.agent_process import COMMAND, WAIT_S


class Resident:
    """One running resident process."""

    def __init__(self, process: anyio.abc.Process) -> None:
        self.process = process
        self.said = b""
        self._has_grown = anyio.Event()

    async def keep(self) -> None:
        """Store its output."""
        assert self.process.stderr
        async for piece in self.process.stderr:
            self.said += piece
            grown, self._has_grown = self._has_grown, anyio.Event()
            grown.set()

    async def listens(self) -> None:
        """Wait until it listens."""
        with anyio.fail_after(WAIT_S):
            while b"is ready" not in self.said:
                await self._has_grown.wait()

    async def wait(self) -> int:
        """Return the exit code."""
        with anyio.fail_after(WAIT_S):
            return await self.process.wait()


@asynccontextmanager
async def resident(environment: Mapping[str, str], cwd: Path, *flags: str) -> AsyncGenerator[Resident]:
    """Start a resident process, and kill it at the end if it is still running."""
    process = await anyio.open_process(
        [COMMAND, "daemon", "run", *flags],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=dict(environment),
        cwd=cwd,
    )
    async with process, anyio.create_task_group() as tasks:
        started = Resident(process)
        tasks.start_soon(started.keep)
        try:
            await started.listens()
            yield started
        finally:
            if process.returncode is None:
                process.kill()
            tasks.cancel_scope.cancel()
