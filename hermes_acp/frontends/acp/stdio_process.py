"""The server's event loop and its signals.

Knows: that SIGTERM, SIGINT and SIGHUP end it as a closed input does. Does not know: what is served.
"""

import anyio

from hermes_acp.agent.beside import beside
from hermes_acp.assembly.house import House
from hermes_acp.config.environment import Environment
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.greeting import Greeting
from hermes_acp.faces.acp.server import serve
from hermes_acp.world import ShutdownGuard
from hermes_protocol.transport import StdioTransport


def run(
    environment: Environment, desk: Desk, greeting: Greeting, wire: tuple[int, int], guard: ShutdownGuard
) -> int:
    """Run the loop to its end; give the exit code."""
    guard.take_signals()
    return anyio.run(_serve, environment, desk, greeting, wire, guard)


async def _serve(
    environment: Environment, desk: Desk, greeting: Greeting, wire: tuple[int, int], guard: ShutdownGuard
) -> int:
    code = 0

    async def stop_on_signal() -> None:
        nonlocal code
        code = 128 + await guard.stopped()
        desk.connection.close_soon()

    async with beside(stop_on_signal):
        await serve(StdioTransport(*wire), House(environment), desk, greeting)
    return code
