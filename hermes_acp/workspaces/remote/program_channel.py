"""A remote script reached through a local program, such as ssh or `docker exec`."""

import errno
import os
import signal
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from subprocess import PIPE
from typing import IO, Final

from anyio import BrokenResourceError, CancelScope, ClosedResourceError, EndOfStream, open_process
from anyio.abc import Process

from hermes_acp.core.errors import InternalError, WorkspaceError

CHUNK_BYTES: Final = 64 * 1024
MAX_STDERR_BYTES: Final = 2000


class ProgramChannel:
    """The process of a local program, with its input and output; its standard error is stored separately."""

    def __init__(self, process: Process, said: IO[bytes]) -> None:
        self._process = process
        self._said = said
        self._complaint = ""

    @property
    def has_ended(self) -> bool:
        """Whether the program has ended."""
        return self._process.returncode is not None

    async def receive(self) -> bytes:
        """Return the next bytes of the program's output, or no bytes at the end."""
        if self._process.stdout is None:
            raise InternalError("The process was started without pipes.")
        try:
            return await self._process.stdout.receive(CHUNK_BYTES)
        except (EndOfStream, ClosedResourceError, BrokenResourceError):
            return b""

    async def send(self, data: bytes) -> None:
        """Send input to the program. Raises WorkspaceError if it accepts none."""
        if self._process.stdin is None:
            raise InternalError("The process was started without pipes.")
        try:
            await self._process.stdin.send(data)
        except (BrokenResourceError, ClosedResourceError) as error:
            raise WorkspaceError(
                "The command accepts no more input.", hint="Read its output to see how it ended."
            ) from error

    async def end_input(self) -> None:
        """Close the program's input."""
        if self._process.stdin is not None:
            with suppress(BrokenResourceError, ClosedResourceError):
                await self._process.stdin.aclose()

    async def wait(self) -> int:
        """Wait for the program to end and return its exit code."""
        return await self._process.wait()

    def complaint(self) -> str:
        """Return the last line of the program's standard error."""
        if not self._said.closed:
            end = self._said.seek(0, os.SEEK_END)
            self._said.seek(max(0, end - MAX_STDERR_BYTES))
            self._complaint = " ".join(self._said.read().decode("utf-8", "replace").split())
        return self._complaint

    async def close(self) -> None:
        """End the program; what it started remotely may keep running."""
        with CancelScope(shield=True):
            if self._process.returncode is None:
                # `Process.kill` would poll first and thereby take the exit code from the task that awaits it.
                with suppress(ProcessLookupError):
                    os.kill(self._process.pid, signal.SIGKILL)
            await self._process.aclose()
            self.complaint()
            self._said.close()


async def open_program(argv: Sequence[str], environment: Mapping[str, str]) -> ProgramChannel:
    """Start the program in a new session, even if cancelled. Raises WorkspaceError if it cannot start."""
    said = _unnamed_file()
    try:
        return ProgramChannel(await _start(argv, environment, said), said)
    except OSError as error:
        said.close()
        raise WorkspaceError(
            f"Could not start {os.path.basename(argv[0])}: {error.strerror or error}.",
            hint="Put a very long command into a script."
            if error.errno == errno.E2BIG
            else "Is it installed?",
        ) from error


async def _start(argv: Sequence[str], environment: Mapping[str, str], said: IO[bytes]) -> Process:
    """Start the program; cancellation waits until it has started, as it could not be killed otherwise."""
    started: list[Process] = []
    with CancelScope(shield=True):
        started.append(
            await open_process(
                argv, stdin=PIPE, stdout=PIPE, stderr=said, cwd="/", env=environment, start_new_session=True
            )
        )
    return started[0]


def _unnamed_file() -> IO[bytes]:
    return tempfile.TemporaryFile()
