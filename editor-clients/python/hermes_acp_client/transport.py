"""Use the pipes of a child process as a transport for the protocol, and end the child."""

import os
import subprocess
from collections import deque
from typing import Final

import anyio
import anyio.abc
import anyio.to_thread

from hermes_acp_client.errors import AgentGone
from hermes_protocol.errors import PeerGone
from hermes_protocol.transport import StdioTransport

KEPT_BYTES: Final = 4096
CHUNK_BYTES: Final = 65536
END_GRACE_S: Final = 5.0


class ChildTransport:
    """A running command with pipes; the peer reads its output and writes its input."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        """Take over the process's pipes."""
        self._process = process
        self._name = _name_of(process)
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise ValueError("The process must be started with pipes for its three streams.")
        self._output = process.stdout
        self._wire = StdioTransport(os.dup(process.stdout.fileno()), os.dup(process.stdin.fileno()))
        self._stderr = process.stderr
        process.stdin.close()
        self._said: deque[int] = deque(maxlen=KEPT_BYTES)
        self._stderr_ended = anyio.Event()

    async def receive(self) -> bytes:
        """Wait for bytes; b"" means that no more will arrive. Raises PeerGone."""
        return await self._wire.receive()

    async def send(self, data: bytes) -> None:
        """Send all of `data`. Raises PeerGone."""
        await self._wire.send(data)

    async def aclose(self) -> None:
        """Close the agent's input and wait until the agent ends; kill it if it does not."""
        with anyio.CancelScope(shield=True), self._output:  # keep its remaining writes from failing
            await self._wire.aclose()
            with anyio.move_on_after(END_GRACE_S):
                await self._end()
            if self._process.poll() is None:
                self._process.kill()
                await self._end()

    async def keep_stderr(self) -> None:
        """Read standard error until it ends, keeping its last part."""
        try:
            with self._stderr:
                await anyio.wait_readable(self._stderr)
                while part := os.read(self._stderr.fileno(), CHUNK_BYTES):
                    self._said.extend(part)
                    await anyio.wait_readable(self._stderr)
        finally:
            self._stderr_ended.set()

    async def exit_error(self) -> AgentGone:
        """Return an error that says how the agent ended and what it last wrote to standard error."""
        with anyio.move_on_after(END_GRACE_S):
            await self._end()
            await self._stderr_ended.wait()
        if self._process.poll() is None:
            return AgentGone(f"{self._name} closed its output but is still running")
        said = bytes(self._said).decode("utf-8", "replace").strip() or "(nothing on standard error)"
        return AgentGone(f"{self._name} ended with status {self._process.returncode}:\n{said}")

    async def _end(self) -> None:
        await anyio.to_thread.run_sync(self._process.wait, abandon_on_cancel=True)


class StreamTransport:
    """A stream to an agent that was started elsewhere."""

    def __init__(self, stream: anyio.abc.ByteStream) -> None:
        self._stream = stream

    async def receive(self) -> bytes:
        """Wait for bytes; b"" means that no more will arrive."""
        try:
            return await self._stream.receive()
        except anyio.EndOfStream:
            return b""
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise PeerGone("the connection to the agent was lost") from error

    async def send(self, data: bytes) -> None:
        """Send all of `data`."""
        try:
            await self._stream.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise PeerGone("the agent no longer reads") from error

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


def _name_of(process: subprocess.Popen[bytes]) -> str:
    """Return the name of a command."""
    command = process.args
    words = [command] if isinstance(command, str | bytes | os.PathLike) else list(command)
    return os.fsdecode(words[0])
