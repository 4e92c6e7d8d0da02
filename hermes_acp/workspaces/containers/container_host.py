"""A container of any engine as a host: started at first use, held by a lease, ended with this process.

A lease is a child process whose input this process holds open; the container ends when that input closes.
Only one start or end runs at a time.
"""

from secrets import token_hex
from typing import Protocol

from anyio import CancelScope, Lock

from hermes_acp.workspaces.containers.engine_options import FOLDER
from hermes_acp.workspaces.remote.program_channel import ProgramChannel
from hermes_acp.workspaces.remote.remote_host import (
    CALL_TIMEOUT_S,
    Channel,
    Outcome,
    put_through,
    run_through,
)


class Engine(Protocol):
    """An engine that starts, enters and ends a container with a given name."""

    name: str
    is_sandbox: bool

    async def start(self, called: str) -> ProgramChannel:
        """Start the container and return its lease, once it is ready. Raises WorkspaceError."""
        ...

    async def enter(self, called: str, script: str) -> Channel:
        """Start a POSIX shell script in the container. Raises WorkspaceError."""
        ...

    async def end(self, called: str, lease: ProgramChannel) -> None:
        """End the container and everything in it, and close its lease."""
        ...


class ContainerHost:
    """The container of one session."""

    remembers = False

    def __init__(self, engine: Engine) -> None:
        """Initialise without starting anything."""
        self.name = engine.name
        self.is_sandbox = engine.is_sandbox
        self._engine = engine
        self._changing = Lock()
        self._lease: ProgramChannel | None = None
        self._called = ""

    @property
    def folder(self) -> str:
        """Return the folder for the agent's own files."""
        return f"{FOLDER}/.hermes-acp"

    async def open(self, script: str) -> Channel:
        """Start a script in the container. Raises WorkspaceError if no container is available."""
        async with self._changing:
            if self._lease is None or self._lease.has_ended:
                await self._end()
                self._called = f"hermes-acp-{token_hex(8)}"
                self._lease = await self._engine.start(self._called)
        return await self._engine.enter(self._called, script)

    async def call(self, script: str, max_wait_s: float = CALL_TIMEOUT_S) -> Outcome:
        """Run a script until it ends. Raises WorkspaceError."""
        return await run_through(self, script, max_wait_s)

    async def put(self, path: str, content: bytes) -> None:
        """Write one of the agent's own files."""
        await put_through(self, path, content)

    async def renew(self) -> bool:
        """End the container; the next use starts a new one."""
        await self.close()
        return True

    async def close(self) -> None:
        """End the container and everything in it."""
        async with self._changing:
            await self._end()

    async def _end(self) -> None:
        lease, self._lease = self._lease, None
        if lease is not None:
            with CancelScope(shield=True):
                await self._engine.end(self._called, lease)
