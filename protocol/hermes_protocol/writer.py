"""The output of one connection: frames are queued immediately, sent together, and counted while they wait."""

from typing import Final

import anyio
import anyio.lowlevel

from hermes_protocol.errors import PeerGone
from hermes_protocol.transport import Transport

TURN_BYTES: Final = 1 << 16
"""The number of bytes that a producer may queue before it lets other tasks run, including the sender."""


class Writer:
    """Coalesces queued frames into as few sends as the peer's reading speed allows."""

    def __init__(self, transport: Transport, *, high_water_bytes: int, low_water_bytes: int) -> None:
        self.unsent_bytes = 0
        self.is_lost = False
        self._transport = transport
        self._high_water_bytes = high_water_bytes
        self._low_water_bytes = low_water_bytes
        self._queue: list[bytes] = []
        self._bytes_of_turn = 0
        self._work: anyio.Event | None = None
        self._low_water: anyio.Event | None = None
        self._empty: anyio.Event | None = None

    def put(self, frame: bytes) -> None:
        """Queue a frame without blocking; it is dropped if the peer is gone."""
        if self.is_lost:
            return
        self._queue.append(frame)
        self.unsent_bytes += len(frame)
        self._bytes_of_turn += len(frame)
        if self._work is not None:
            self._work.set()
            self._work = None

    async def run(self) -> None:
        """Send everything queued, all at once, until the peer is gone."""
        try:
            while True:
                if not self._queue:
                    self._work = anyio.Event()
                    await self._work.wait()
                batch, self._queue = self._queue, []
                data = batch[0] if len(batch) == 1 else b"".join(batch)
                del batch
                await self._transport.send(data)
                self.unsent_bytes -= len(data)
                self._wake()
        except PeerGone:
            self.lose()

    async def drained(self) -> None:
        """Return at once below the high-water mark, otherwise once the output is down to the low-water mark.

        Other tasks get a turn from time to time, because a replay that never waits must not block them.
        """
        if self.is_lost:
            await anyio.lowlevel.checkpoint()  # a producer that never stops must still be cancellable
            return
        if self.unsent_bytes < self._high_water_bytes:
            if self._bytes_of_turn >= TURN_BYTES:
                self._bytes_of_turn = 0
                await anyio.lowlevel.checkpoint()
            return
        if self._low_water is None:
            self._low_water = anyio.Event()
        await self._low_water.wait()

    async def flushed(self) -> None:
        """Wait until everything is sent or will never be read."""
        while self.unsent_bytes:
            if self._empty is None:
                self._empty = anyio.Event()
            await self._empty.wait()

    def lose(self) -> None:
        """Discard all current and future output, because it will never be read."""
        self.is_lost = True
        self._queue = []
        self.unsent_bytes = 0
        self._wake()

    def _wake(self) -> None:
        if self._low_water is not None and self.unsent_bytes <= self._low_water_bytes:
            self._low_water.set()
            self._low_water = None
        if self._empty is not None and not self.unsent_bytes:
            self._empty.set()
            self._empty = None
