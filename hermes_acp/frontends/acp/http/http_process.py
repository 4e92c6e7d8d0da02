"""The serving process: its sockets, signals and shutdown.

SIGTERM lets running turns end, for a limited time, and then ends everything in order. A second signal ends everything
within a second, as SIGINT and SIGHUP do at once.
"""

import os
import secrets
import signal
import socket
import sys
from collections.abc import Callable, Coroutine
from contextlib import suppress
from functools import partial
from typing import Any, Final

import anyio
from hypercorn import asyncio as hypercorn_loop
from hypercorn.config import Config, Sockets
from hypercorn.logging import Logger

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.app.app import App
from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import ConfigError, StorageError
from hermes_acp.core.plugins import PluginFolder
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
from hermes_acp.frontends.acp.messages import serving
from hermes_acp.shutdown import ShutdownGuard, code_after
from hermes_acp.storage.descriptor_limit import raise_limit
from hermes_acp.telemetry.session_metrics import SessionMetrics
from hermes_protocol.framing import DEFAULT_MAX_FRAME_BYTES

BACKLOG: Final = 1024
SEND_BUFFER_BYTES: Final = 1 << 18
DEAD_PEER_S: Final = 60
IDLE_S: Final = 15.0
"""How long a connection may be silent between two requests, and before all headers of a request have arrived."""
ENDING_S: Final = 1.2
CLOSING_S: Final = 0.3
STREAMS_PER_CONNECTION: Final = 1100
RUNS_RETRY_S: Final = 5.0


def run(environment: Environment, settings: ServeSettings, announce: Callable[[str], None]) -> int:
    """Serve until a signal; return the exit code. Raise ConfigError for an address that cannot be bound."""
    listener = listen(settings.host, settings.port)
    port = listener.getsockname()[1]
    shown = f"[{settings.host}]" if ":" in settings.host else settings.host
    token = settings.token or secrets.token_urlsafe(32)
    address = f"http://{shown}:{port}"
    announce(serving.serving(f"{address}{PATH}"))
    if settings.token:
        announce(serving.web_page(f"{address}/"))
    else:
        announce(serving.generated_token(token))
        announce(serving.web_page(f"{address}/#token={token}"))
    policy = AdmissionPolicy(
        token=token,
        hosts=LOCAL_NAMES | {host_name(settings.host)} | {name.lower() for name in settings.hosts},
        origins=frozenset(settings.origins),
        takes_any_address=settings.is_remote,
    )
    guard = ShutdownGuard(drain_s=settings.drain_s)
    raise_limit()
    guard.start()
    guard.watch_signals()
    return anyio.run(_serve, environment, settings, policy, listener, guard)


def listen(host: str, port: int) -> socket.socket:
    """Bind the listening socket with the options that connections inherit. Raise ConfigError."""
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


async def _serve(
    environment: Environment,
    settings: ServeSettings,
    policy: AdmissionPolicy,
    listener: socket.socket,
    guard: ShutdownGuard,
) -> int:
    clock = SystemClock()
    tools: PluginFolder[object] = PluginFolder("hermes_acp.tools.builtin", "TOOL")
    metrics = SessionMetrics(clock.monotonic, frozenset(tools))
    app = App(environment, clock=clock, observers=(metrics,))
    code = 0
    server_limits = ServerLimits(connections=settings.max_connections or default_client_limit())
    try:
        async with background_tasks(app.run), anyio.create_task_group() as tasks:
            clients = RemoteClients(app, tasks, server_limits)
            page = MetricsPage(metrics, clients)
            health = Health(clients, environment.home, page.text, has_open_metrics=settings.has_open_metrics)
            tasks.start_soon(page.watch_lag)
            tasks.start_soon(_start, app, health)
            connections = Connections(default_bounds())
            config = http_config(Listener.taking_over(listener, connections), app)
            endpoint = Endpoint(policy, clients, health, connections.note_request)
            ending = _Ending(guard, settings.drain_s, partial(_drive_runs, app))
            code = await _serve_clients(endpoint, config, clients, ending)
            tasks.cancel_scope.cancel()
        return code
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()


async def _start(app: App, health: Health) -> None:
    """Prepare what the first turn needs; from then on, the server is ready."""
    await app.prepare_recall()
    health.is_started = True


async def _drive_runs(app: App) -> None:
    """Drive runs; a home folder that cannot be written stops them, but not the server."""
    while True:
        with suppress(StorageError):
            await app.run_service.work()
        await anyio.sleep(RUNS_RETRY_S)


class _Ending:
    """When this process ends, and with which exit code."""

    def __init__(
        self, guard: ShutdownGuard, drain_s: float, drive_runs: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        self._guard = guard
        self._drain_s = drain_s
        self._drive_runs = drive_runs

    async def wait(self, clients: RemoteClients) -> int:
        """Drive runs until a signal, then wait for running turns after SIGTERM; return the exit code."""
        async with background_tasks(self._drive_runs):
            number = await self._guard.stopped()
        code = code_after(number)
        if number != signal.SIGTERM:
            return code
        async with anyio.create_task_group() as tasks:

            async def hurry() -> None:
                nonlocal code
                code = code_after(await self._guard.stopped())
                tasks.cancel_scope.cancel()

            tasks.start_soon(hurry)
            with anyio.move_on_after(self._drain_s):
                await clients.drain()
            tasks.cancel_scope.cancel()
        self._guard.end_drain()
        return code


async def _serve_clients(endpoint: Endpoint, config: Config, clients: RemoteClients, ending: _Ending) -> int:
    """Serve clients until a signal; return the exit code."""
    code = 0
    async with anyio.create_task_group() as tasks:
        stopping, closed = anyio.Event(), anyio.Event()

        async def serve() -> None:
            http: Any = hypercorn_loop  # its types are written for one framework's stubs
            await http.serve(endpoint, config, shutdown_trigger=stopping.wait, mode="asgi")
            closed.set()

        tasks.start_soon(serve)
        code = await ending.wait(clients)
        with anyio.move_on_after(ENDING_S):
            await clients.stop()
        stopping.set()
        with anyio.move_on_after(CLOSING_S):
            await closed.wait()
        tasks.cancel_scope.cancel()
    return code


def http_config(listener: Listener, app: App) -> Config:
    """Return the HTTP server's limits and timeouts; it writes no log."""

    class Reporter(Logger):
        """Report the server's own faults to the app; requests are not logged."""

        async def exception(self, message: str, *args: Any, **kwargs: Any) -> None:
            if (error := sys.exception()) is not None:
                app.report_bug(error, os.urandom(6).hex())

    class Listening(Config):
        """Use the socket that is already bound."""

        def create_sockets(self) -> Sockets:
            return Sockets([], [listener], [])

    config = Listening()
    config.accesslog = None
    config.errorlog = None
    config.logger_class = Reporter
    config.include_server_header = False
    config.graceful_timeout = CLOSING_S / 2
    config.keep_alive_timeout = IDLE_S
    config.keep_alive_max_requests = sys.maxsize
    config.h2_max_concurrent_streams = STREAMS_PER_CONNECTION
    config.websocket_max_message_size = DEFAULT_MAX_FRAME_BYTES
    return config
