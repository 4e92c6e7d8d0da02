"""The HTTP server of the resident process: its socket, its limits and its shutdown."""

import errno
import os
import secrets
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import anyio
from hypercorn import asyncio as hypercorn_loop
from hypercorn.config import Config, Sockets
from hypercorn.logging import Logger
from starlette.types import ASGIApp

from hermes_acp.app.app import App
from hermes_acp.clock import SystemClock
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.frontends.acp.connection.client_connection import ConnectionRegistry
from hermes_acp.frontends.acp.http.acp_endpoint import PATH, Endpoint
from hermes_acp.frontends.acp.http.health import Health
from hermes_acp.frontends.acp.http.listener import (
    Connections,
    Listener,
    default_bounds,
    default_client_limit,
)
from hermes_acp.frontends.acp.http.metrics_page import MetricsPage
from hermes_acp.frontends.acp.http.remote_clients import RemoteClients, ServerLimits
from hermes_acp.frontends.acp.http.request_admission import LOCAL_NAMES, AdmissionPolicy, host_name
from hermes_acp.frontends.acp.http.serve_settings import ServeSettings
from hermes_acp.frontends.acp.http.webhooks import Webhooks
from hermes_acp.frontends.acp.messages import serving
from hermes_acp.telemetry.session_metrics import SessionMetrics
from hermes_protocol.framing import DEFAULT_MAX_FRAME_BYTES

BACKLOG: Final = 1024
SEND_BUFFER_BYTES: Final = 1 << 18
DEAD_PEER_S: Final = 60
IDLE_S: Final = 15.0
"""The timeout for an idle connection, between two requests and until all headers of a request have arrived."""
ENDING_S: Final = 1.2
CLOSING_S: Final = 0.3
CONNECTIONS_ENDING_S: Final = 1.0
STREAMS_PER_CONNECTION: Final = 1100


class HttpServer:
    """Serves clients over HTTP and WebSocket at one address."""

    def __init__(self, settings: ServeSettings) -> None:
        """Bind the address. Raises ConfigError if that fails."""
        inherited = settings.inherited_socket
        self._listener = listen(settings.host, settings.port) if inherited is None else _take_over(inherited)
        port = self._listener.getsockname()[1]
        shown = f"[{settings.host}]" if ":" in settings.host else settings.host
        token = settings.token or secrets.token_urlsafe(32)
        self._page = f"http://{shown}:{port}/"
        self._generated_token = "" if settings.token else token
        self.address = f"http://{shown}:{port}{PATH}"
        self._policy = AdmissionPolicy(
            token=token,
            hosts=LOCAL_NAMES | {host_name(settings.host)} | {name.lower() for name in settings.hosts},
            origins=frozenset(settings.origins),
            takes_any_address=settings.is_remote,
        )
        tools: PluginFolder[object] = PluginFolder("hermes_acp.tools.builtin", "TOOL")
        self._settings = settings
        self._metrics = SessionMetrics(SystemClock().monotonic, frozenset(tools))
        self._clients: RemoteClients | None = None
        self._connections = Connections(default_bounds())
        self._stopping = anyio.Event()
        self._closed = anyio.Event()

    @property
    def observers(self) -> tuple[SessionMetrics, ...]:
        """The observers that count the events of all sessions for the metrics."""
        return (self._metrics,)

    def announce(self, say: Callable[[str], None]) -> None:
        """Report where clients are served and, if the token was generated, with which token."""
        say(serving.serving(self.address))
        if token := self._generated_token:
            say(serving.generated_token(token))
            say(serving.web_page(f"{self._page}#token={token}"))
        else:
            say(serving.web_page(self._page))

    async def serve(self, app: App, registry: ConnectionRegistry, home: Path) -> None:
        """Serve clients until `stop`."""
        limits = ServerLimits(connections=self._settings.max_connections or default_client_limit())
        async with anyio.create_task_group() as tasks:
            clients = self._clients = RemoteClients(app, tasks, limits, registry)
            page = MetricsPage(self._metrics, clients)
            has_open_metrics = self._settings.has_open_metrics
            health = Health(clients, home, page.text, has_open_metrics=has_open_metrics)
            tasks.start_soon(page.watch_lag)
            tasks.start_soon(_start, app, health)
            connections = self._connections
            config = http_config(Listener.taking_over(self._listener, connections), app.report_bug)
            endpoint = Endpoint(self._policy, clients, health, Webhooks(app), connections.note_request)
            tasks.start_soon(run_http_server, endpoint, config, self._stopping, self._closed)
            await self._closed.wait()
            tasks.cancel_scope.cancel()

    def refuse_clients(self) -> None:
        """Accept no new clients from now on."""
        if self._clients:
            self._clients.is_draining = True

    async def stop(self) -> None:
        """End all connections, then the server."""
        if self._clients:
            with anyio.move_on_after(ENDING_S):
                await self._clients.stop()
        await self._connections.end(CONNECTIONS_ENDING_S)
        self._stopping.set()
        with anyio.move_on_after(CLOSING_S):
            await self._closed.wait()


async def _start(app: App, health: Health) -> None:
    """Load what the first turn needs; the server is ready afterwards."""
    await app.prepare_recall()
    health.is_started = True


async def run_http_server(
    application: ASGIApp, config: Config, stopping: anyio.Event, closed: anyio.Event
) -> None:
    """Run an HTTP server until `stopping`; set `closed` at its end.

    The server handles its own cancellation, so no cancel scope is used in its task.
    """
    http: Any = hypercorn_loop  # its type annotations depend on the stubs of another framework
    await http.serve(application, config, shutdown_trigger=stopping.wait, mode="asgi")
    closed.set()


def listen(host: str, port: int) -> socket.socket:
    """Bind a listening socket, with the socket options that its connections inherit. Raises ConfigError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if sys.platform == "linux":
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, DEAD_PEER_S // 2)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, DEAD_PEER_S // 6)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_PEER_S * 1000)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise ConfigError(
            serving.cannot_listen(host, port, error.strerror or str(error)),
            hint=serving.OTHER_ADDRESS_HINT,
        ) from error
    return listener


def _take_over(descriptor: int) -> socket.socket:
    """Return the listening socket that the parent process bound. Raises ConfigError if it is not one."""
    try:
        listener = socket.socket(fileno=descriptor)
        if not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    except OSError as error:
        raise ConfigError(serving.not_a_listener(descriptor, error.strerror or str(error))) from error
    os.set_inheritable(descriptor, False)
    return listener


def http_config(
    listener: Listener, report_bug: Callable[[BaseException, str], object], idle_s: float = IDLE_S
) -> Config:
    """Return the HTTP server's limits and timeouts; it writes no log and reports its own faults."""

    class Reporter(Logger):
        """Reports bugs of the server; requests are not logged."""

        async def exception(self, message: str, *args: Any, **kwargs: Any) -> None:
            if (error := sys.exception()) is not None:
                report_bug(error, os.urandom(6).hex())

    class Listening(Config):
        """Uses the socket that is already bound."""

        def create_sockets(self) -> Sockets:
            return Sockets([], [listener], [])

    config = Listening()
    config.accesslog = None
    config.errorlog = None
    config.logger_class = Reporter
    config.include_server_header = False
    config.graceful_timeout = CLOSING_S / 2
    config.keep_alive_timeout = idle_s
    config.keep_alive_max_requests = sys.maxsize
    config.h2_max_concurrent_streams = STREAMS_PER_CONNECTION
    config.websocket_max_message_size = DEFAULT_MAX_FRAME_BYTES
    return config
