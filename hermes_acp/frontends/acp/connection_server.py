"""One connection from its first frame to its last.

Knows: the order of starting and ending. Does not know: what is said on the wire.
"""

import anyio

from hermes_acp.agent.beside import beside
from hermes_acp.assembly.house import House
from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.greeting import Greeting
from hermes_acp.faces.acp.handler import Dispatch
from hermes_acp.faces.acp.v1.opening import admit, workspace_opener
from hermes_protocol.connection import Connection
from hermes_protocol.transport import Transport

NOTHING_SAID = Greeting(b"")


async def serve(transport: Transport, house: House, desk: Desk, greeting: Greeting = NOTHING_SAID) -> None:
    """Serve the only client of this process until it goes; then everything is stopped, recorded and closed."""
    connection = Connection(transport, Dispatch(desk), on_bug=house.report_bug, pending=greeting.unread)
    try:
        async with beside(house.run):
            await attend(connection, house, desk, greeting)
    finally:
        with anyio.CancelScope(shield=True):
            await house.aclose()


async def attend(connection: Connection, house: House, desk: Desk, greeting: Greeting = NOTHING_SAID) -> None:
    """Serve one client of a house that may have others, until it goes; its sessions stay open in the house."""
    async with anyio.create_task_group() as tasks:
        desk.open(house, connection, tasks)
        if greeting.begun:
            session = house.sessions.adopt(greeting.begun, workspace_opener(desk))
            await house.employer.equip(session, greeting.servers, can_ask=desk.can_ask)
            admit(desk, session)
        try:
            await connection.run()
        finally:
            desk.close()
            tasks.cancel_scope.cancel()
