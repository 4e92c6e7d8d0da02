"""Transports that move bytes between two peers: stdio descriptors, an in-memory pair, or a socket."""

import os
import stat
import sys
from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar

import anyio
import anyio.abc
import anyio.lowlevel
import anyio.to_thread

from hermes_protocol.errors import PeerGone

T = TypeVar("T")

_READ_BYTES: Final = 1 << 16
_MEMORY_BUFFER_BYTES: Final = 1 << 16


class Transport(Protocol):
    """A two-way stream of bytes. One task receives, and one task sends."""

    async def receive(self) -> bytes:
        """Wait for bytes; b"" means that no more will arrive. Raises PeerGone if the connection is lost."""
        ...

    async def send(self, data: bytes) -> None:
        """Send all of `data`. Raises PeerGone if the other side no longer reads."""
        ...

    async def aclose(self) -> None:
        """Close both directions; safe to call twice."""
        ...


class StdioTransport:
    """A transport over two descriptors, which it owns and closes at the end.

    Pipes, sockets and terminals are awaited on the event loop; anything else, such as a regular file, is
    read and written in a worker thread.
    """

    def __init__(self, in_fd: int, out_fd: int) -> None:
        # Save both before changing either, because they may share one file description, as on a terminal.
        shared_modes: dict[int, bool] = {}
        self._in_fd, self._is_in_pollable = _make_pollable(in_fd, os.O_RDONLY, shared_modes)
        self._out_fd, self._is_out_pollable = _make_pollable(out_fd, os.O_WRONLY, shared_modes)
        for fd in shared_modes:
            os.set_blocking(fd, False)
        self._shared_modes = shared_modes
        self._is_closed = False
        # A disk may block forever, and such a wait must not occupy a thread that others need.
        self._reading, self._writing = anyio.CapacityLimiter(1), anyio.CapacityLimiter(1)

    async def receive(self) -> bytes:
        """Read the available bytes, waiting for the first one."""
        if self._is_closed:
            return b""
        try:
            if self._is_in_pollable:
                return await _retry_when_ready(
                    lambda: os.read(self._in_fd, _READ_BYTES), lambda: anyio.wait_readable(self._in_fd)
                )
            return await anyio.to_thread.run_sync(
                os.read, self._in_fd, _READ_BYTES, abandon_on_cancel=True, limiter=self._reading
            )
        except (OSError, anyio.ClosedResourceError) as error:
            raise PeerGone(f"reading from the peer failed: {error}") from error

    async def send(self, data: bytes) -> None:
        """Write all of `data`, however few bytes the descriptor accepts at a time."""
        if self._is_closed:
            raise PeerGone("the transport is closed")
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[await self._write(rest) :]
        except (OSError, anyio.ClosedResourceError) as error:
            raise PeerGone(f"writing to the peer failed: {error}") from error

    async def aclose(self) -> None:
        """Restore the blocking mode of shared file descriptions and close both descriptors."""
        if self._is_closed:
            return
        self._is_closed = True
        for fd, was_blocking in self._shared_modes.items():
            os.set_blocking(fd, was_blocking)
        for fd in {self._in_fd, self._out_fd}:
            anyio.notify_closing(fd)
            os.close(fd)

    async def _write(self, data: memoryview) -> int:
        if self._is_out_pollable:
            return await _retry_when_ready(
                lambda: os.write(self._out_fd, data), lambda: anyio.wait_writable(self._out_fd)
            )
        return await anyio.to_thread.run_sync(os.write, self._out_fd, data, limiter=self._writing)


class SocketTransport:
    """A transport over any anyio byte stream."""

    def __init__(self, stream: anyio.abc.ByteStream) -> None:
        self._stream = stream

    async def receive(self) -> bytes:
        """Read the available bytes, waiting for the first one."""
        try:
            return await self._stream.receive(_READ_BYTES)
        except anyio.EndOfStream:
            return b""
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise PeerGone("reading from the peer failed: the connection was lost") from error

    async def send(self, data: bytes) -> None:
        """Write all of `data`."""
        try:
            await self._stream.send(data)
        except (anyio.BrokenResourceError, anyio.ClosedResourceError) as error:
            raise PeerGone("writing to the peer failed: the connection was lost") from error

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()


class MemoryTransport:
    """One end of an in-process pair; `memory_pair` creates both."""

    def __init__(self, incoming: "_Channel", outgoing: "_Channel") -> None:
        self._incoming = incoming
        self._outgoing = outgoing

    async def receive(self) -> bytes:
        """Read what the other end sent, waiting for the first byte."""
        return await self._incoming.take()

    async def send(self, data: bytes) -> None:
        """Pass on `data`, waiting while the buffer is full."""
        await self._outgoing.put(data)

    async def send_eof(self) -> None:
        """End our direction; the other end reads what is buffered, then b"", and can still send."""
        self._outgoing.end()

    async def aclose(self) -> None:
        """End our direction, and reject anything that the other end sends from now on."""
        self._outgoing.end()
        self._incoming.refuse()


def memory_pair(buffer_bytes: int = _MEMORY_BUFFER_BYTES) -> tuple[MemoryTransport, MemoryTransport]:
    """Create two connected transports, each direction buffering at most `buffer_bytes`."""
    there, back = _Channel(buffer_bytes), _Channel(buffer_bytes)
    return MemoryTransport(back, there), MemoryTransport(there, back)


class _Channel:
    """Bytes in transit in one direction."""

    def __init__(self, buffer_bytes: int) -> None:
        self._buffer_bytes = buffer_bytes
        self._data = bytearray()
        self._is_ended = False
        self._is_refused = False
        self._changed: anyio.Event | None = None

    async def put(self, data: bytes) -> None:
        start = 0
        while start < len(data):
            if self._is_ended or self._is_refused:
                raise PeerGone("the other end of the memory pair is closed")
            room = self._buffer_bytes - len(self._data)
            if room <= 0:
                await self._wait()
                continue
            self._data += data[start : start + room]
            start += room
            self._wake()
        await anyio.lowlevel.checkpoint()

    async def take(self) -> bytes:
        await anyio.lowlevel.checkpoint()
        while not self._data:
            if self._is_ended or self._is_refused:
                return b""
            await self._wait()
        taken = bytes(self._data)
        self._data.clear()
        self._wake()
        return taken

    def end(self) -> None:
        self._is_ended = True
        self._wake()

    def refuse(self) -> None:
        self._is_refused = True
        self._data.clear()
        self._wake()

    async def _wait(self) -> None:
        if self._changed is None:
            self._changed = anyio.Event()
        await self._changed.wait()

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set()
            self._changed = None


def _make_pollable(fd: int, access: int, shared_modes: dict[int, bool]) -> tuple[int, bool]:
    """Return a descriptor and whether the event loop can wait for it, in which case it never blocks.

    O_NONBLOCK belongs to the file description, which a parent, a shell or our own standard error may share.
    Linux can reopen a pipe or a terminal with a separate description; if that fails, the shared one
    is noted in `shared_modes` with its mode, for the caller to switch now and restore at the end.
    """
    mode = os.fstat(fd).st_mode
    if sys.platform == "win32" or not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(fd)):
        return fd, False
    try:
        own_fd = os.open(f"/proc/self/fd/{fd}", access | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        shared_modes[fd] = os.get_blocking(fd)
        return fd, True
    os.close(fd)
    return own_fd, True


async def _retry_when_ready(attempt: Callable[[], T], wait: Callable[[], Awaitable[None]]) -> T:
    """Try immediately, and wait for readiness only if not ready; other tasks may run in either case."""
    await anyio.lowlevel.checkpoint()
    while True:
        try:
            return attempt()
        except BlockingIOError:
            await wait()
