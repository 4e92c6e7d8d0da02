"""A transport that survives the loss of its client's network connections."""

from collections import deque
from typing import Final

import anyio
import anyio.lowlevel
from msgspec import Struct

from hermes_acp.frontends.acp.http.outbox import BufferAccount, Outbox
from hermes_acp.frontends.acp.http.stream_routes import Routes, StreamRoute
from hermes_acp.frontends.acp.messages import serving
from hermes_protocol.errors import PeerGone

MAX_STREAMS: Final = 1024


class BufferLimits(Struct, frozen=True):
    """The buffer limits of one connection, in bytes.

    Above `unsent_bytes`, the connection's writer waits; its own buffer has a separate high-water mark.
    `kept_bytes` is the amount of sent data that is retained for a client whose stream broke.
    """

    incoming_bytes: int = 1 << 20
    unsent_bytes: int = 1 << 18
    kept_bytes: int = 1 << 20


class DetachableTransport:
    """Move whole messages between a connection and the streams its client currently has open."""

    def __init__(self, routes: Routes | None, room: BufferLimits | None = None) -> None:
        """Prepare the transport; without `routes`, all messages are sent on one stream."""
        self._room = room or BufferLimits()
        self._routes = routes
        self._account = BufferAccount(self._room.unsent_bytes, self._room.kept_bytes)
        self._outboxes: dict[str | None, Outbox] = {None: Outbox(self._account)}
        self._incoming: deque[bytes] = deque()
        self._incoming_bytes = 0
        self._changed = anyio.Event()
        self._is_closed = False

    async def deliver(self, message: bytes) -> None:
        """Queue an incoming message; wait while the queue is full. Raises PeerGone if the connection has ended.

        Line endings inside the message become spaces; in JSON, they only occur between tokens.
        """
        while self._incoming and self._incoming_bytes + len(message) > self._room.incoming_bytes:
            if self._is_closed:
                break
            await self._changed.wait()
        if self._is_closed:
            raise PeerGone(serving.CONNECTION_ENDED)
        line = message.replace(b"\n", b" ") + b"\n"
        self._incoming.append(line)
        self._incoming_bytes += len(line)
        self._wake()

    async def receive(self) -> bytes:
        """Wait for incoming messages and return all of them."""
        await anyio.lowlevel.checkpoint()
        while not self._incoming:
            if self._is_closed:
                return b""
            await self._changed.wait()
        taken = b"".join(self._incoming) if len(self._incoming) > 1 else self._incoming[0]
        self._incoming.clear()
        self._incoming_bytes = 0
        self._wake()
        return taken

    async def send(self, data: bytes) -> None:
        """Queue each message on its stream; wait while the client is too far behind."""
        if self._is_closed:
            raise PeerGone(serving.CONNECTION_ENDED)
        for frame in data.split(b"\n"):
            if frame:
                await self._post(frame)
        await anyio.lowlevel.checkpoint()
        await self._account.wait_for_room()

    async def _post(self, frame: bytes) -> None:
        route = self._routes.find(frame) if self._routes else StreamRoute(None)
        if route.behind is not None:
            await self.outbox(route.behind).settled()
        outbox = self.outbox(route.session_id)
        outbox.put(frame)
        if route.is_last and route.session_id is not None:
            self.forget(route.session_id)

    def outbox(self, session_id: str | None) -> Outbox:
        """Return the outbox of a session, or of the connection itself (None); create it on first use."""
        if (outbox := self._outboxes.get(session_id)) is None:
            outbox = self._outboxes[session_id] = Outbox(self._account)
            if self._is_closed:
                outbox.finish()
        return outbox

    def forget(self, session_id: str) -> None:
        """Drop a stream that is complete."""
        if outbox := self._outboxes.pop(session_id, None):
            outbox.finish()

    def has_room_for_stream(self, session_id: str | None) -> bool:
        """Return whether a stream may be opened: its session already has one, or the limit is not reached."""
        return session_id in self._outboxes or len(self._outboxes) < MAX_STREAMS

    async def aclose(self) -> None:
        """Accept no more messages; streams end once they have sent what is queued."""
        self._is_closed = True
        for outbox in self._outboxes.values():
            outbox.finish()
        self._account.release()
        self._wake()
        await anyio.lowlevel.checkpoint()

    def _wake(self) -> None:
        changed, self._changed = self._changed, anyio.Event()
        changed.set()
