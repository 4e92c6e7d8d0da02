"""`session/attach` over pipes, WebSocket and HTTP: several clients attached to one session, one of which answers."""

from __future__ import annotations

import sys
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import agent_environment
from tests.e2e.http_serving import TOKEN, Client, Message, http_client, serving, socket_client
from tests.e2e.raw_editor import RawEditor, editor, permit
from tests.model_server import Reply, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="sockets are POSIX")]
WRITE = ToolCall("write_file", {"path": "made.txt", "content": "made\n"})
ASK = "session/request_permission"


def peer_updates(client: Client | RawEditor, kind: str) -> list[Message]:
    """Return the updates of a kind that a client received about the other clients."""
    updates = [m["params"]["update"] for m in client.messages if m.get("method") == "session/update"]
    return [update for update in updates if update.get("type") == kind]


async def test_clients_on_every_transport_attach_and_are_told_who_answered(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    async with serve([Reply("I write.", tool_calls=(WRITE,)), Reply("Written.")]) as model:
        environment = agent_environment(tmp_path, model) | {
            "HERMES_ACP_UNSTABLE": "1",
            "HERMES_SERVE_TOKEN": TOKEN,
        }
        async with (
            serving(environment, tmp_path) as server,
            editor(environment, workspace) as desk,
            editor(environment, workspace) as second,
            socket_client(server.url, {ASK: permit("allow_once")}) as phone,
            http_client(server.url) as watch,
            anyio.create_task_group() as tasks,
        ):
            info = {"clientInfo": {"name": "phone", "version": "1"}}
            await phone.call("initialize", {"protocolVersion": 1, **info})
            session_id = await desk.open_session(workspace)
            tasks.start_soon(desk.prompt, session_id, "write")
            await desk.wait_for(lambda m: m.get("method") == ASK)
            for client, policy in ((second, "full"), (watch, "pending_only")):
                params: Message = {"sessionId": session_id, "historyPolicy": policy}
                answer = await client.call("session/attach", params)
                assert "result" in answer, (answer, desk.errors, second.errors)
                assert answer["result"]["history"][-1]["status"] == "pending"
                await client.wait_for(lambda m: m.get("method") == ASK)
            await phone.call("session/attach", {"sessionId": session_id, "clientId": "phone-1"})
            for client in (second, watch):
                await client.wait_for(lambda _, client=client: bool(peer_updates(client, "turn_complete")))
                (resolved,) = peer_updates(client, "permission_resolved")
                assert resolved["resolvedBy"] == {"clientId": "phone-1", "name": "phone", "version": "1"}
                assert resolved["chosenOptionId"] == "allow_once"
            assert second.said() == "I write.Written."
            detached = await watch.call("session/detach", {"sessionId": session_id})
            assert detached["result"] == {"sessionId": session_id, "status": "detached"}
            await second.wait_for(lambda _: bool(peer_updates(second, "client_disconnected")))
        assert (workspace / "made.txt").read_text() == "made\n"
