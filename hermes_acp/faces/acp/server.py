"""One connection from its first frame to its last.

Knows: the order of starting and ending. Does not know: what is said on the wire.
"""

import anyio

from hermes_acp.assembly import House
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.greeting import Greeting
from hermes_acp.faces.acp.handler import Dispatch
from hermes_acp.faces.acp.v1.opening import admit, workspace_opener
from hermes_protocol.connection import Connection
from hermes_protocol.transport import Transport

NOTHING_SAID = Greeting(b"")


async def serve(transport: Transport, house: House, desk: Desk, greeting: Greeting = NOTHING_SAID) -> None:
    """Serve until the client goes; then everything it started is stopped, recorded and closed."""
    connection = Connection(transport, Dispatch(desk), on_bug=house.report_bug, pending=greeting.unread)
    async with anyio.create_task_group() as tasks:
        desk.open(house, connection, tasks)
        if greeting.begun:
            admit(desk, house.sessions.adopt(greeting.begun, workspace_opener(desk)))
        tasks.start_soon(house.run)
        try:
            await connection.run()
        finally:
            tasks.cancel_scope.cancel()
    with anyio.CancelScope(shield=True):
        await house.aclose()
