"""The listening socket, with limits on the number of connections.

A connection that has not yet sent a complete request is called silent. Beyond one limit the oldest silent
connection is closed, so that half-open requests block nobody; one whose data the server has not read yet is spared.
Beyond the other limits a new connection is refused at once. The HTTP server holds a connection closed by its client
until the idle timeout; one that never sent whole headers is closed here instead.
"""

import socket
from collections import Counter
from contextlib import suppress
from itertools import islice
from typing import Final, Self

import anyio
from msgspec import Struct

from hermes_acp.frontends.acp.messages import serving
from hermes_acp.storage.descriptor_limit import soft_limit

MAX_SILENT: Final = 1024
"""The number of clients that may reconnect at the same time, for example after a restart."""
MAX_CLIENTS: Final = 4096
DESCRIPTORS_PER_CLIENT: Final = 4
MAX_CLOSING: Final = 16
MIN_CONNECTIONS: Final = 16
MAX_CONSIDERED: Final = 64
"""The number of oldest silent connections to check for unread data before the oldest is closed anyway."""
REFUSAL: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 5\r\nconnection: close\r\n"
    b"content-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\n\r\n%b"
) % (len(serving.TOO_MANY_CONNECTIONS), serving.TOO_MANY_CONNECTIONS.encode())
END_OF_HEADERS: Final = b"\r\n\r\n"
PeerAddress = tuple[str, int]


class ConnectionLimits(Struct, frozen=True):
    """Limits on open connections: in total, from one address, and those that have not sent a request."""

    total: int
    a_peer: int
    silent: int = MAX_SILENT

    @classmethod
    def of_limit(cls, descriptors: int) -> Self:
        """Return limits that leave half of the descriptors to sessions, and let one address use 3/4 of the rest."""
        total = max(MIN_CONNECTIONS, descriptors // 2)
        return cls(total, max(MIN_CONNECTIONS, total * 3 // 4), min(MAX_SILENT, max(4, descriptors // 8)))


class Connections:
    """The open connections of one server."""

    def __init__(self, bounds: ConnectionLimits) -> None:
        self._bounds = bounds
        self.closing = 0
        """The number of evicted connections to be closed in the next iteration of the event loop."""
        self.lingering = 0
        """The number of evicted connections that are no longer read, but close only at the idle timeout."""
        self.is_ending = False
        """Whether the server is shutting down: connections are no longer accepted or read."""
        self._silent: dict[PeerAddress, _Connection] = {}
        self._of_host: Counter[str] = Counter()
        self._open: set[_Connection] = set()
        self._all_closed = anyio.Event()

    def admit(self, connection: "_Connection") -> bool:
        """Count a new connection; return False if a limit is reached."""
        if self.is_ending:
            return False
        is_full = self._of_host.total() >= self._bounds.total
        is_full |= self._of_host[connection.peer[0]] >= self._bounds.a_peer
        if is_full and not self._evict():
            return False
        if len(self._silent) >= self._bounds.silent:
            self._evict()
        self._of_host[connection.peer[0]] += 1
        self._silent[connection.peer] = connection
        self._open.add(connection)
        return True

    def note_request(self, peer: PeerAddress) -> None:
        """Record that a connection has sent a complete request, so it is no longer silent."""
        self._silent.pop(peer, None)

    def forget(self, connection: "_Connection") -> None:
        """Stop counting a connection."""
        self._open.discard(connection)
        if self.is_ending and not self._open:
            self._all_closed.set()
        if connection.is_evicted:
            self.lingering -= connection.has_ended
            self.closing -= not connection.has_ended
            return
        if self._silent.get(connection.peer) is connection:
            del self._silent[connection.peer]
        self._of_host[connection.peer[0]] -= 1
        if not self._of_host[connection.peer[0]]:
            del self._of_host[connection.peer[0]]

    async def end(self, within_s: float) -> None:
        """End all connections and wait until they are closed, for at most `within_s` seconds.

        A server that stops with open connections cancels the task of each one, which is slow and logs errors.
        """
        self.is_ending = True
        if not self._open:
            return
        for connection in self._open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RD)
        with anyio.move_on_after(within_s):
            await self._all_closed.wait()

    def _evict(self) -> bool:
        """Close the connection that has been silent longest, if there is one."""
        if not self._silent:
            return False
        longest = tuple(islice(self._silent.values(), MAX_CONSIDERED))
        oldest = next((each for each in longest if not each.has_unread_data()), longest[0])
        self.forget(oldest)
        oldest.is_evicted = True
        self.lingering += oldest.has_ended
        self.closing += not oldest.has_ended
        with suppress(OSError):
            oldest.shutdown(socket.SHUT_RDWR)
        return True


class _Connection(socket.socket):
    """One accepted connection, counted until it is closed."""

    __slots__ = ("counted_by", "has_ended", "has_headers", "is_evicted", "peer", "tail")
    counted_by: Connections | None
    is_evicted: bool
    has_ended: bool
    has_headers: bool
    peer: PeerAddress
    tail: bytes

    def recv(self, size: int, flags: int = 0, /) -> bytes:
        """Read data. Raise ConnectionResetError if no answer is needed, so that the transport closes at once.

        That is the case after an eviction, and if the client closed before its first request had whole headers.
        """
        data = super().recv(size, flags)
        if not self.has_headers:
            self.has_headers = END_OF_HEADERS in self.tail + data
            self.tail = (self.tail + data)[1 - len(END_OF_HEADERS) :]
        is_ending = self.counted_by is not None and self.counted_by.is_ending
        if self.is_evicted or is_ending or not (data or self.has_headers):
            raise ConnectionResetError
        self.has_ended = not data
        return data

    def has_unread_data(self) -> bool:
        """Return whether the client has sent data that the server has not read yet."""
        try:
            return bool(super().recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except OSError:
            return False

    def close(self) -> None:
        """Close the connection and stop counting it."""
        connections, self.counted_by = self.counted_by, None
        if connections:
            connections.forget(self)
        super().close()


class Listener(socket.socket):
    """A listening socket that takes over another socket's descriptor and refuses connections beyond the limits."""

    __slots__ = ("connections",)
    connections: Connections

    @classmethod
    def taking_over(cls, listening: socket.socket, connections: Connections) -> Self:
        """Take over a socket that is already listening."""
        made = cls(listening.family, listening.type, listening.proto, fileno=listening.detach())
        made.setblocking(False)
        made.connections = connections
        return made

    def accept(self) -> tuple[socket.socket, tuple[str, int]]:
        """Accept the next connection. Raises ConnectionAbortedError for a refused one, or BlockingIOError."""
        if self.connections.closing >= MAX_CLOSING:
            raise BlockingIOError  # the event loop closes evicted connections first
        plain, address = super().accept()
        connection = _Connection(plain.family, plain.type, plain.proto, fileno=plain.detach())
        connection.peer, connection.counted_by = (address[0], address[1]), None
        connection.is_evicted = connection.has_ended = connection.has_headers = False
        connection.tail = b""
        connection.setblocking(False)
        has_room = self.connections.lingering < MAX_CLOSING and self.connections.admit(connection)
        if not has_room:
            with suppress(OSError), connection:
                connection.send(REFUSAL)
            raise ConnectionAbortedError(serving.TOO_MANY_CONNECTIONS)
        connection.counted_by = self.connections
        return connection, address


def default_client_limit() -> int:
    """Return how many clients this process's descriptor limit allows.

    Each needs a socket, its session's record and, during a turn, a connection to the model and a file or two.
    """
    return max(MIN_CONNECTIONS, min(MAX_CLIENTS, soft_limit() // DESCRIPTORS_PER_CLIENT))


def default_bounds() -> ConnectionLimits:
    """Return the connection limits for this process's descriptor limit."""
    return ConnectionLimits.of_limit(soft_limit())
