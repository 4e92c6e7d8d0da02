"""One connection from its first frame to its last.

Knows: the order of starting and ending. Does not know: what is said on the wire.
"""

import anyio

from hermes_acp.assembly import House
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.handler import Dispatch
from hermes_protocol.connection import Connection
from hermes_protocol.transport import Transport


async def serve(transport: Transport, house: House, desk: Desk, *, pending: bytes = b"") -> None:
    """Serve until the client goes; then everything it started is stopped, recorded and closed."""
    connection = Connection(transport, Dispatch(desk), on_bug=house.report_bug, pending=pending)
    async with anyio.create_task_group() as tasks:
        desk.open(house, connection, tasks)
        tasks.start_soon(house.run)
        try:
            await connection.run()
        finally:
            with anyio.CancelScope(shield=True):
                await house.aclose()
            tasks.cancel_scope.cancel()
