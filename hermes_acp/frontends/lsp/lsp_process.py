"""The server's event loop and its signals.

Knows: the order of starting and ending, that SIGTERM, SIGINT and SIGHUP end it as a closed input does. Does not know:
what is served. pygls would run a loop of its own; its protocol is driven by ours instead (decision 11).
"""

import anyio

from hermes_acp.agent.beside import beside
from hermes_acp.config.environment import Environment
from hermes_acp.faces.lsp.desk import Desk
from hermes_acp.faces.lsp.registration import furnish
from hermes_acp.faces.lsp.server import Server, make_server
from hermes_acp.faces.lsp.tasks import Tasks
from hermes_acp.faces.lsp.wire import Wire, log_line
from hermes_acp.storage.descriptors import raise_limit
from hermes_acp.telemetry.bug_log import BugLog
from hermes_acp.world import RandomIds, ShutdownGuard
from hermes_protocol.transport import StdioTransport


def run(environment: Environment, wire: tuple[int, int]) -> int:
    """Serve until the editor ends it or a signal does; give the exit code."""
    guard = ShutdownGuard(wire[0])
    raise_limit()
    guard.start()
    guard.take_signals()
    return anyio.run(_serve, environment, wire, guard)


async def _serve(environment: Environment, descriptors: tuple[int, int], guard: ShutdownGuard) -> int:
    server = make_server()
    wire = Wire(StdioTransport(*descriptors), server)
    code = 0

    async def stop_on_signal() -> None:
        nonlocal code
        code = 128 + await guard.stopped()
        wire.close()

    async with beside(stop_on_signal), beside(wire.send):
        await _attend(environment, wire, server)
        await wire.say_goodbye()
    return code or wire.exit_code


async def _attend(environment: Environment, wire: Wire, server: Server) -> None:
    """Serve one editor until it goes; then everything is stopped, recorded and closed."""
    bugs = BugLog(environment.home)

    def report_bug(error: BaseException, trace: str) -> None:
        log_line(f"a fault of hermes-acp itself, {trace}: see {bugs.path}")
        bugs.report(error, trace)

    async with anyio.create_task_group() as group:
        desk = Desk(server, environment, Tasks(group, report_bug, RandomIds()))
        furnish(server, desk)
        group.start_soon(_keep_house, environment, desk)
        try:
            await wire.listen(desk.tasks.attempt)
        finally:
            group.cancel_scope.cancel()


async def _keep_house(environment: Environment, desk: Desk) -> None:
    """Build the house when the editor has been greeted: what it takes would keep the greeting waiting."""
    await desk.is_greeted.wait()
    from hermes_acp.assembly.house import House

    house = House(environment)
    try:
        async with beside(house.run):
            desk.move_in(house)
            await anyio.sleep_forever()
    finally:
        with anyio.CancelScope(shield=True):
            await house.aclose()
