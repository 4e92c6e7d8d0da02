"""The server's event loop and its signals.

Knows: that SIGTERM, SIGINT and SIGHUP end it as a closed input does. Does not know: what is served.
"""

import signal

import anyio

from hermes_acp.assembly import House
from hermes_acp.config.environment import read_environment
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.server import serve
from hermes_protocol.transport import StdioTransport


def run(desk: Desk, in_fd: int, out_fd: int, pending: bytes) -> int:
    """Run the loop to its end; give the exit code."""
    return anyio.run(_serve, desk, in_fd, out_fd, pending)


async def _serve(desk: Desk, in_fd: int, out_fd: int, pending: bytes) -> int:
    house = House(read_environment())
    code = 0
    async with anyio.create_task_group() as tasks:

        async def stop_on_signal() -> None:
            nonlocal code
            with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
                async for number in signals:
                    code = 128 + number
                    desk.connection.close_soon()

        tasks.start_soon(stop_on_signal)
        await serve(StdioTransport(in_fd, out_fd), house, desk, pending=pending)
        tasks.cancel_scope.cancel()
    return code
