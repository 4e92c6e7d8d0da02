"""A relay in front of a server that can break connections, as networks do."""

from __future__ import annotations

import socket
import struct
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

import anyio
import anyio.abc

ABORT = struct.pack("ii", 1, 0)
GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError)


class CutRelay:
    """The relay's port and its connections."""

    def __init__(self, target: int) -> None:
        self.port = 0
        self.is_cut = False
        self._target = target
        self._open: set[anyio.abc.SocketStream] = set()

    def cut(self) -> None:
        """Break every connection, and every new one until `mend`."""
        self.is_cut = True
        for stream in tuple(self._open):
            _reset(stream)

    def mend(self) -> None:
        """Accept new connections again."""
        self.is_cut = False

    async def serve(self, near: anyio.abc.SocketStream) -> None:
        """Relay one connection until it ends."""
        if self.is_cut:
            _reset(near)
        with suppress(*GONE):
            async with near, await anyio.connect_tcp("127.0.0.1", self._target) as far:
                self._open |= {near, far}
                try:
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(_pump, near, far, tasks)
                        tasks.start_soon(_pump, far, near, tasks)
                finally:
                    self._open -= {near, far}


def _reset(stream: anyio.abc.SocketStream) -> None:
    raw: socket.socket = stream.extra(anyio.abc.SocketAttribute.raw_socket)
    with suppress(OSError):
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, ABORT)
        raw.shutdown(socket.SHUT_RDWR)


async def _pump(
    source: anyio.abc.ByteReceiveStream, target: anyio.abc.ByteSendStream, tasks: anyio.abc.TaskGroup
) -> None:
    with suppress(*GONE):
        async for piece in source:
            await target.send(piece)
    tasks.cancel_scope.cancel()


@asynccontextmanager
async def relaying(target: int) -> AsyncGenerator[CutRelay]:
    """Yield a relay to a port on this machine."""
    relay = CutRelay(target)
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as listener:
        relay.port = listener.extra(anyio.abc.SocketAttribute.local_port)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listener.serve, relay.serve)
            yield relay
            tasks.cancel_scope.cancel()
