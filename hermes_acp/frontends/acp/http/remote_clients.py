"""Manage the remote clients of a server process; each has its own connection, and all share one app."""

import secrets
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Literal

import anyio
from msgspec import Struct

from hermes_acp.app.app import App
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection, ConnectionRegistry
from hermes_acp.frontends.acp.connection.dispatcher import Dispatcher
from hermes_acp.frontends.acp.connection_server import attend
from hermes_acp.frontends.acp.http.detachable_transport import DetachableTransport
from hermes_acp.frontends.acp.http.stream_routes import Routes
from hermes_protocol.connection import Connection, Limits

if TYPE_CHECKING:
    from anyio.abc import TaskGroup

Kind = Literal["http", "websocket"]
FLUSH_S: Final = 0.6


class ServerLimits(Struct, frozen=True):
    """The server's timeouts and limits.

    `absence_s` is how long a client may have no stream open before its connection ends; `greeting_s` is how long it
    may take to initialize; `stall_s` is how long it may read nothing of what is sent; `keepalive_s` is the interval of
    keep-alive messages on a silent stream; `body_s` is how long a request body may take to arrive.
    """

    absence_s: float = 60.0
    greeting_s: float = 30.0
    stall_s: float = 30.0
    keepalive_s: float = 15.0
    body_s: float = 60.0
    connections: int = 1024
    bodies_bytes: int = 256 << 20


class TooManyClients(Exception):
    """No more connections are accepted: there are too many, or the server is shutting down."""


class SocketReceiver:
    """Receives the messages of a client that may resume its WebSocket; delivers each once, even if it arrives twice."""

    def __init__(self, transport: DetachableTransport) -> None:
        self._transport = transport
        self._lock = anyio.Lock()
        self.received = 0

    async def take(self, data: bytes, number: int | None, is_current: Callable[[], bool]) -> bool:
        """Deliver message `number` unless it was delivered before; return False if its socket was replaced.

        If `number` is None, the client does not number its messages, and all are delivered. Raises PeerGone if the
        connection has ended.
        """
        if number is None:
            await self._transport.deliver(data)
            return True
        async with self._lock:
            if not is_current():
                return False
            if number > self.received:
                await self._transport.deliver(data)
                self.received = number
            return True


class RemoteClient:
    """A client's connection, from initialize to its end; it survives the loss of its streams."""

    def __init__(
        self,
        kind: Kind,
        app: App,
        registry: ConnectionRegistry,
        server_limits: ServerLimits,
        client_id: str | None = None,
    ) -> None:
        self.id = client_id or secrets.token_hex(16)
        self.kind: Kind = kind
        self.routes = Routes()
        self.transport = DetachableTransport(self.routes if kind == "http" else None)
        self.client = ClientConnection(registry)
        self.may_resume = kind == "http"
        self.intake = SocketReceiver(self.transport)
        self._app = app
        self._server_limits = server_limits
        self._connection = Connection(
            self.transport, Dispatcher(self.client), on_bug=app.report_bug, limits=Limits(flush_s=FLUSH_S)
        )
        self.is_ending = False
        self._streams = 0
        self._moved = anyio.Event()
        self._ended = anyio.Event()

    @property
    def is_away(self) -> bool:
        """Whether the client has no stream open."""
        return self._streams == 0

    def arrive(self) -> None:
        """Record that the client opened a stream."""
        self._streams += 1
        self.client.is_away = False
        self.touch()

    def leave(self) -> None:
        """Record that a stream was lost; end the connection if it was the last one and cannot be reopened."""
        self._streams -= 1
        self.client.is_away = self.is_away
        self.touch()
        if self.is_away and not self.may_resume:
            self.end_soon()

    def touch(self) -> None:
        """Restart the absence timeout."""
        moved, self._moved = self._moved, anyio.Event()
        moved.set()

    def end_soon(self) -> None:
        """Start to close: cancel running work, and send queued messages as long as the client reads them at once."""
        self.is_ending = True
        self._connection.close_soon()

    async def end(self) -> None:
        """Close, and wait until the sessions are released."""
        self.end_soon()
        await self._ended.wait()

    async def run(self) -> None:
        """Serve the client until it leaves, is away for too long or the server stops; then detach it."""
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(self._await_greeting)
                tasks.start_soon(self._watch_absence)
                await attend(self._connection, self._app, self.client)
                tasks.cancel_scope.cancel()
        finally:
            self._ended.set()

    async def _await_greeting(self) -> None:
        await anyio.sleep(self._server_limits.greeting_s)
        if self.client.greeted is None:
            self.end_soon()

    async def _watch_absence(self) -> None:
        """End the connection after `absence_s` without a stream or a message."""
        while True:
            moved = self._moved
            if not self.is_away:
                await moved.wait()
                continue
            with anyio.move_on_after(self._server_limits.absence_s) as scope:
                await moved.wait()
            if scope.cancelled_caught:
                self.end_soon()
                return


class RemoteClients:
    """All remote clients, by connection ID."""

    def __init__(
        self,
        app: App,
        tasks: "TaskGroup",
        server_limits: ServerLimits | None = None,
        registry: ConnectionRegistry | None = None,
    ) -> None:
        self.server_limits = server_limits or ServerLimits()
        self._app = app
        self._tasks = tasks
        self._registry = registry or ConnectionRegistry()
        self._clients: dict[str, RemoteClient] = {}
        self.is_draining = False
        self.is_stopping = False

    @property
    def is_closed(self) -> bool:
        """Whether new clients are no longer accepted."""
        return self.is_stopping or self.is_draining

    def begin(self, kind: Kind, client_id: str | None = None) -> RemoteClient:
        """Start a new connection, with the client's own ID if it chose one. Raises TooManyClients."""
        if self.is_closed or len(self._clients) >= self.server_limits.connections:
            raise TooManyClients
        remote_client = RemoteClient(kind, self._app, self._registry, self.server_limits, client_id)
        self._clients[remote_client.id] = remote_client
        self._tasks.start_soon(self._run, remote_client)
        return remote_client

    def by_kind(self) -> dict[Kind, int]:
        """Count the connections of each kind."""
        counts: dict[Kind, int] = {"http": 0, "websocket": 0}
        for remote_client in self._clients.values():
            counts[remote_client.kind] += 1
        return counts

    def find(self, client_id: str) -> RemoteClient | None:
        """Return a connection that has not ended."""
        return self._clients.get(client_id)

    async def stop(self) -> None:
        """Refuse new clients, end all connections and wait until they are gone."""
        self.is_stopping = True
        async with anyio.create_task_group() as tasks:
            for remote_client in tuple(self._clients.values()):
                tasks.start_soon(remote_client.end)

    async def _run(self, remote_client: RemoteClient) -> None:
        try:
            await remote_client.run()
        finally:
            del self._clients[remote_client.id]
