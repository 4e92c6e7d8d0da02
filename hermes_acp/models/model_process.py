"""Run a model in a child process, with requests on standard input and answers as JSON lines on standard output.

This shields the agent from the model's memory use and from native crashes.
"""

from collections.abc import Mapping
from subprocess import DEVNULL
from typing import TYPE_CHECKING, Final

import anyio
from msgspec import Struct

if TYPE_CHECKING:
    from anyio.abc import Process
    from anyio.streams.buffered import BufferedByteReceiveStream

EXIT_TIMEOUT_S: Final = 2.0
PROCESS_FAULTS: Final = (
    OSError,
    ValueError,
    anyio.BrokenResourceError,
    anyio.ClosedResourceError,
    anyio.DelimiterNotFound,
    anyio.EndOfStream,
    anyio.IncompleteRead,
)
"""Everything that can go wrong with the process's pipes, including an unreadable line and a timeout."""


class ProcessPlan(Struct, frozen=True):
    """How to run a model's process.

    Its environment consists of `variables` alone, so that it does not inherit the agent's keys. `grace_s` is how many
    seconds it has to exit on its own after its standard input is closed.
    """

    command: tuple[str, ...]
    variables: Mapping[str, str]
    max_line_bytes: int
    grace_s: float = 0.0


class ModelProcess:
    """A child process that is started when it is needed. The owner must serialise requests, and must close it."""

    def __init__(self, plan: ProcessPlan) -> None:
        self._plan = plan
        self._process: Process | None = None
        self._lines: BufferedByteReceiveStream | None = None

    @property
    def is_running(self) -> bool:
        """Whether the process has been started and has not exited."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Start the process, cleaning up after one that has exited. Raises OSError."""
        from anyio.streams.buffered import BufferedByteReceiveStream

        await self.aclose()
        self._process = await anyio.open_process(
            self._plan.command, stderr=DEVNULL, env=self._plan.variables, start_new_session=True
        )
        assert self._process.stdout, "the process was started with a pipe"
        self._lines = BufferedByteReceiveStream(self._process.stdout)

    async def send(self, content: bytes) -> None:
        """Send bytes to the running process. Raises one of PROCESS_FAULTS."""
        assert self._process, "the process was started"
        assert self._process.stdin, "the process was started with a pipe"
        await self._process.stdin.send(content)

    async def receive(self) -> bytes:
        """Return the next line. Raises one of PROCESS_FAULTS."""
        assert self._lines, "the process was started"
        return await self._lines.receive_until(b"\n", self._plan.max_line_bytes)

    async def exit_code(self) -> int | None:
        """End the process; return the exit code it already had, or None if it was still running."""
        process = self._process
        if process:
            with anyio.move_on_after(EXIT_TIMEOUT_S):
                await process.wait()
        code = process.returncode if process else None
        await self.aclose()
        return code

    async def aclose(self) -> None:
        """End the process."""
        process, self._process, self._lines = self._process, None, None
        if process is None:
            return
        with anyio.CancelScope(shield=True):
            if self._plan.grace_s and process.returncode is None:
                if process.stdin:
                    await process.stdin.aclose()
                with anyio.move_on_after(self._plan.grace_s):
                    await process.wait()
            if process.returncode is None:
                process.kill()
            await process.aclose()
