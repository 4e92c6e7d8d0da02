"""Run the server's event loop, and handle its signals.

SIGTERM, SIGINT and SIGHUP end it, as does the end of the input.
"""

import anyio

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.app.app import App
from hermes_acp.config.environment import Environment
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection_server import serve
from hermes_acp.frontends.acp.fast_handshake import Handshake
from hermes_acp.shutdown import ShutdownGuard, code_after
from hermes_protocol.transport import StdioTransport


def run(
    environment: Environment,
    client: ClientConnection,
    greeting: Handshake,
    wire: tuple[int, int],
    guard: ShutdownGuard,
) -> int:
    """Run the event loop until the server ends; return the exit code."""
    guard.watch_signals()
    return anyio.run(_serve, environment, client, greeting, wire, guard)


async def _serve(
    environment: Environment,
    client: ClientConnection,
    greeting: Handshake,
    wire: tuple[int, int],
    guard: ShutdownGuard,
) -> int:
    code = 0

    async def stop_on_signal() -> None:
        nonlocal code
        code = code_after(await guard.stopped())
        client.connection.close_soon()

    async with background_tasks(stop_on_signal):
        await serve(StdioTransport(*wire), App(environment), client, greeting)
    return code
