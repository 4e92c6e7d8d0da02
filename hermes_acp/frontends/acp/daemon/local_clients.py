"""Serve the clients that other processes of the same user hand over through the socket of the resident process.

Only processes of this user are served; the kernel identifies the peer.
"""

import os
from collections.abc import Awaitable, Callable
from typing import Final

import anyio
import msgspec
from anyio.abc import SocketAttribute, SocketStream, UNIXSocketStream
from msgspec import Struct

from hermes_acp.app.app import App
from hermes_acp.config.environment import Environment, environment_of
from hermes_acp.core.errors import ConfigError
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection, ConnectionRegistry
from hermes_acp.frontends.acp.connection.dispatcher import Dispatcher
from hermes_acp.frontends.acp.connection_server import attend
from hermes_acp.frontends.acp.daemon.daemon_messages import Answer, Hello
from hermes_acp.frontends.acp.daemon.daemon_socket import MAX_LINE_BYTES, is_own
from hermes_acp.frontends.acp.daemon.fitting_clients import refusal
from hermes_acp.frontends.acp.messages import daemon
from hermes_protocol.connection import Connection
from hermes_protocol.transport import StdioTransport

GREETING_S: Final = 5.0


class Controls(Struct, frozen=True):
    """The handlers of the other requests on the socket: report the status as JSON, stop, stay."""

    status: Callable[[], Awaitable[bytes]]
    stop: Callable[[bool, bool], None]
    """Start shutting down. The arguments say whether to do so at once, and whether another process follows."""
    stay: Callable[[], None]
    """Do not end when idle."""


class LocalClients:
    """The clients handed over by other processes."""

    def __init__(
        self, app: App, environment: Environment, registry: ConnectionRegistry, controls: Controls
    ) -> None:
        self._app = app
        self._environment = environment
        self._registry = registry
        self._controls = controls
        self._connections: set[Connection] = set()
        self._has_none = anyio.Event()
        self._is_stopping = False

    async def serve(self, listener: anyio.abc.SocketListener) -> None:
        """Accept connections until cancelled."""
        async with listener:
            await listener.serve(self._hear)

    async def stop(self) -> None:
        """Accept no more clients, end the current connections, and wait until they have ended."""
        self._is_stopping = True
        for connection in self._connections:
            connection.close_soon()
        while self._connections:
            self._has_none = anyio.Event()
            await self._has_none.wait()

    async def _hear(self, stream: SocketStream) -> None:
        """Handle a connection to the socket, unless the process at the other end belongs to another user."""
        assert isinstance(stream, UNIXSocketStream), "the listener is a Unix socket"
        async with stream:
            if not is_own(stream.extra(SocketAttribute.raw_socket)):
                return
            try:
                with anyio.fail_after(GREETING_S):
                    hello = msgspec.json.decode(await _line(stream), type=Hello)
                await self._answer(stream, hello)
            except (msgspec.MsgspecError, OSError, anyio.BrokenResourceError, anyio.EndOfStream, ConfigError):
                return  # the peer sent something else, or has ended

    async def _answer(self, stream: UNIXSocketStream, hello: Hello) -> None:
        match hello.purpose:
            case "status":
                await stream.send(await self._controls.status() + b"\n")
            case "stop" | "kill":
                await _say(stream, Answer(is_accepted=True))
                self._controls.stop(hello.purpose == "kill", hello.is_replaced)
                await anyio.sleep_forever()
            case "stay":
                self._controls.stay()
                await _say(stream, Answer(is_accepted=True))
            case "serve":
                why = daemon.STOPPING if self._is_stopping else refusal(hello, self._environment)
                await _say(stream, Answer(not why, why, self._is_stopping))
                if not why:
                    await self._serve(stream, environment_of(hello.variables))
            case _:
                await _say(stream, Answer(is_accepted=False, reason=daemon.UNKNOWN_PURPOSE))

    async def _serve(self, stream: UNIXSocketStream, environment: Environment) -> None:
        """Serve a client over the descriptors that follow, until the client or its own process has ended."""
        with anyio.fail_after(GREETING_S):
            _, descriptors = await stream.receive_fds(1, 2)
        if len(descriptors) != 2:
            for descriptor in descriptors:
                os.close(descriptor)
            return
        client = ClientConnection(self._registry)
        client.environment = environment
        transport = StdioTransport(*descriptors)
        connection = Connection(transport, Dispatcher(client), on_bug=self._app.report_bug)
        self._connections.add(connection)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_end_with, stream, connection)
                await attend(connection, self._app, client)
                tasks.cancel_scope.cancel()
            await stream.send(b"\0")
        finally:
            self._connections.discard(connection)
            if not self._connections:
                self._has_none.set()


async def _end_with(stream: UNIXSocketStream, connection: Connection) -> None:
    """End a connection when the process that handed it over is gone."""
    try:
        while await stream.receive():
            pass
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        connection.close_soon()


async def _line(stream: UNIXSocketStream) -> bytes:
    said = b""
    while not said.endswith(b"\n") and len(said) < MAX_LINE_BYTES:
        said += await stream.receive()
    return said


async def _say(stream: UNIXSocketStream, answer: Answer) -> None:
    await stream.send(msgspec.json.encode(answer) + b"\n")
