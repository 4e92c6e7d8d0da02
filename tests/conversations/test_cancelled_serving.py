"""A server that is cancelled from outside closes what it has open, like one whose client left."""

import anyio
import pytest

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection_server import serve
from hermes_acp.storage.transcript import Transcript
from hermes_protocol.transport import memory_pair
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import WAIT_S, FakeEditor

pytestmark = pytest.mark.anyio


async def test_a_cancelled_server_closes_its_sessions(scene: Scene) -> None:
    near, far = memory_pair()
    editor = FakeEditor(far, scene.schema)
    session = ""
    with anyio.fail_after(WAIT_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(editor.connection.run)
            async with anyio.create_task_group() as serving:
                serving.start_soon(serve, near, scene.open_app(), ClientConnection())
                await editor.initialize()
                session = await editor.new_session(scene.project)
                serving.cancel_scope.cancel()
            tasks.cancel_scope.cancel()
    # Fails if the cancelled server still holds the record.
    transcript, _, _ = Transcript.reopen(scene.record_of(session))
    transcript.close()
