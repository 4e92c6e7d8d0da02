"""The pipes of a child process as a transport of the protocol's peer, and the end of that child.

Knows: bytes, the last lines of standard error. Does not know: JSON-RPC.
"""

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final

import anyio
import anyio.abc

from hermes_acp_client.errors import AgentGone
from hermes_protocol.errors import PeerGone

KEPT_BYTES: Final = 4096
END_GRACE_S: Final = 5.0


class ChildTransport:
    """A running command; the peer reads its output and writes its input."""

    def __init__(self, process: anyio.abc.Process, name: str) -> None:
        self._process = process
        self._name = name
        self._said: deque[int] = deque(maxlen=KEPT_BYTES)
        self._stderr_ended = anyio.Event()

    async def receive(self) -> bytes:
        """Wait for bytes; b"" means that no more will come."""
        assert self._process.stdout is not None
        try:
            return await self._process.stdout.receive()
        except anyio.EndOfStream:
            return b""
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise PeerGone("the agent's output broke") from error

    async def send(self, data: bytes) -> None:
        """Send all of data."""
        assert self._process.stdin is not None
        try:
            await self._process.stdin.send(data)
        except (OSError, anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise PeerGone("the agent does not read any more") from error

    async def aclose(self) -> None:
        """Close the agent's input and wait for its end; end it by force when it stays."""
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(END_GRACE_S):
                if self._process.stdin is not None:
                    await self._process.stdin.aclose()
                await self._process.wait()
            if self._process.returncode is None:
                self._process.kill()
                await self._process.wait()

    async def keep_stderr(self) -> None:
        """Read standard error to its end, keeping the last of it."""
        assert self._process.stderr is not None
        try:
            async for part in self._process.stderr:
                self._said.extend(part)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError):
            return
        finally:
            self._stderr_ended.set()

    async def obituary(self) -> AgentGone:
        """Say how the agent ended and what it last wrote to standard error."""
        with anyio.move_on_after(END_GRACE_S):
            await self._process.wait()
            await self._stderr_ended.wait()
        if self._process.returncode is None:
            return AgentGone(f"{self._name} closed its output but still runs")
        said = bytes(self._said).decode("utf-8", "replace").strip() or "(nothing on standard error)"
        return AgentGone(f"{self._name} ended with status {self._process.returncode}:\n{said}")


class StreamTransport:
    """A stream to an agent that somebody else started."""

    def __init__(self, stream: anyio.abc.ByteStream) -> None:
        self._stream = stream

    async def receive(self) -> bytes:
        """Wait for bytes; b"" means that no more will come."""
        try:
            return await self._stream.receive()
        except anyio.EndOfStream:
            return b""
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise PeerGone("the stream to the agent broke") from error

    async def send(self, data: bytes) -> None:
        """Send all of data."""
        try:
            await self._stream.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise PeerGone("the agent does not read any more") from error

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


async def start_child(command: Sequence[str], env: Mapping[str, str] | None) -> anyio.abc.Process:
    """Start the command in a process group of its own, all three streams in pipes. Raises AgentGone."""
    try:
        return await anyio.open_process(list(command), env=env, start_new_session=True)
    except OSError as error:
        raise AgentGone(f"{command[0]} could not be started: {error}") from error
