"""Serve a connection from its first frame to its last."""

import anyio

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.app.app import App
from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.dispatcher import Dispatcher
from hermes_acp.frontends.acp.fast_handshake import Handshake
from hermes_acp.frontends.acp.v1.session_opening import admit, workspace_opener
from hermes_protocol.connection import Connection
from hermes_protocol.transport import Transport

NO_HANDSHAKE = Handshake(b"")


async def serve(
    transport: Transport, app: App, client: ClientConnection, greeting: Handshake = NO_HANDSHAKE
) -> None:
    """Serve this process's only client until it disconnects; then stop and close the app."""
    connection = Connection(transport, Dispatcher(client), on_bug=app.report_bug, pending=greeting.unread)
    try:
        async with background_tasks(app.run):
            await attend(connection, app, client, greeting)
            await app.departures.close_all()
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()


async def attend(
    connection: Connection, app: App, client: ClientConnection, greeting: Handshake = NO_HANDSHAKE
) -> None:
    """Serve one of the app's clients until it disconnects; work that it started continues afterwards."""
    async with anyio.create_task_group() as tasks:
        client.open(app, connection, tasks)
        if greeting.begun:
            session = app.sessions.adopt(greeting.begun, workspace_opener(client))
            await app.mcp_manager.equip(session, greeting.servers, can_ask=client.can_ask)
            admit(client, session)
        try:
            await connection.run()
        finally:
            client.close()
            tasks.cancel_scope.cancel()
            with anyio.CancelScope(shield=True):
                await _leave(app, client)


async def _leave(app: App, client: ClientConnection) -> None:
    """Detach a client from its sessions; an error while closing a session record does not affect other clients."""
    try:
        await app.departures.leave(client)
    except HermesError as error:
        app.report_bug(error, client.name)
