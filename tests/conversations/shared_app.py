"""Several editors connected to one app, as on a server with many clients."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

import anyio

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection, ConnectionRegistry
from hermes_acp.frontends.acp.connection.dispatcher import Dispatcher
from hermes_acp.frontends.acp.connection_server import attend
from hermes_protocol.connection import Connection
from hermes_protocol.transport import memory_pair
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import WAIT_S, FakeEditor

OTHERS_TURN = "while nothing of it was asked for"  # Not an error if another editor asked.
OTHERS_CARD = "was left pending"  # Not an error while another editor's turn continues.


@asynccontextmanager
async def strangers(
    scene: Scene, count: int, schemas: Sequence[str] = ()
) -> AsyncGenerator[tuple[FakeEditor, ...]]:
    """Start an app with editors that have sent nothing yet; the rules are checked at the end.

    Each editor is checked against its own schema, by default the scene's.
    """
    app, registry = scene.open_app(), ConnectionRegistry()
    editors: list[FakeEditor] = []
    with anyio.fail_after(2 * WAIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(app.run)
            for schema in schemas or (scene.schema,) * count:
                near, far = memory_pair()
                client = ClientConnection(registry)
                editors.append(FakeEditor(far, schema))
                connection = Connection(near, Dispatcher(client), on_bug=app.report_bug)
                tasks.start_soon(attend, connection, app, client)
                tasks.start_soon(editors[-1].connection.run)
            try:
                yield tuple(editors)
            finally:
                with anyio.CancelScope(shield=True):
                    for editor in editors:
                        await editor.connection.aclose()
                    await app.aclose()
                tasks.cancel_scope.cancel()
    faults = [fault for editor in editors for fault in editor.laws.faults]
    left = [fault for fault in faults if OTHERS_TURN not in fault and OTHERS_CARD not in fault]
    assert not left, left
    log = scene.home / "logs" / "bugs.log"
    assert not log.exists(), log.read_text(encoding="utf-8")


@asynccontextmanager
async def two_editors(scene: Scene) -> AsyncGenerator[tuple[FakeEditor, FakeEditor]]:
    """Start an app with two editors of version 1 that have initialized their connections."""
    async with strangers(scene, 2) as (first, second):
        await first.initialize()
        await second.initialize()
        yield first, second
