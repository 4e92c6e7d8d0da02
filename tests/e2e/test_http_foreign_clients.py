"""The official SDKs' own HTTP and WebSocket clients against a real `hermes-acp serve`."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any, cast

import acp
import anyio
import pytest
from acp import schema

from tests.e2e.agent_process import WAIT_S, agent_environment, run_command
from tests.e2e.foreign_clients import AFTER, BEFORE, CLIENTS, conversation, node_for
from tests.e2e.http_serving import BEARER, TOKEN, serving
from tests.model_server import serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX"),
]


def folders(tmp_path: Path) -> tuple[Path, Path]:
    workspace, home = tmp_path / "workspace", tmp_path / "home"
    workspace.mkdir()
    home.mkdir()
    (workspace / "a.py").write_text(BEFORE)
    return workspace, home


@pytest.mark.parametrize("transport", ["http", "websocket"])
async def test_the_typescript_sdk(tmp_path: Path, transport: str, require_all: bool) -> None:
    node = node_for("@agentclientprotocol/sdk", is_required=require_all)
    workspace, home = folders(tmp_path)
    async with serve(conversation()) as model:
        environment = agent_environment(home, model)
        async with serving(environment, tmp_path) as server:
            options = {"url": server.url, "token": TOKEN, "transport": transport, "workspace": str(workspace)}
            done = await run_command(
                str(CLIENTS / "http_conversation.mjs"), json.dumps(options),
                environment=environment, cwd=workspace, command=node,
            )  # fmt: skip
            assert done.code == 0, done.errors
            server.process.terminate()
            assert await server.wait() == 0
    told: dict[str, Any] = json.loads(done.output)
    assert told["agent"] == "hermes-acp"
    assert told["refused"] == {"stopReason": "end_turn", "file": BEFORE}
    assert told["edited"] == {"stopReason": "end_turn", "file": AFTER}
    assert told["diffs"] == [AFTER, AFTER]
    assert (told["cancelled"], told["after"], told["goesOn"]) == ("cancelled", "end_turn", "end_turn")
    assert told["listed"] == [True]
    assert told["replay"] == told["live"]
    assert told["unknown"] == -32002


class Listener:
    """Records the updates and allows everything."""

    def __init__(self) -> None:
        self.words = ""
        self.asked: list[schema.ToolCallUpdate] = []

    async def session_update(self, session_id: str, update: Any, **kwargs: Any) -> None:
        if isinstance(update, schema.AgentMessageChunk) and isinstance(
            update.content, schema.TextContentBlock
        ):
            self.words += update.content.text

    async def request_permission(
        self, session_id: str, tool_call: schema.ToolCallUpdate, options: Any, **kwargs: Any
    ) -> schema.RequestPermissionResponse:
        self.asked.append(tool_call)
        outcome = schema.AllowedOutcome(outcome="selected", option_id="allow_once")
        return schema.RequestPermissionResponse(outcome=outcome)


async def open_stream(kind: str, url: str, *, is_required: bool) -> Any:
    module = "acp.ws.client" if kind == "websocket" else "acp.http.client"
    try:
        client = importlib.import_module(module)
    except ImportError as error:
        if is_required:
            pytest.fail(f"{error}")
        pytest.skip(f"{error}")
    if kind == "websocket":
        return await client.create_websocket_stream(url.replace("http", "ws"), headers=BEARER)
    return client.create_http_stream(url, headers=BEARER)


@pytest.mark.parametrize("kind", ["http", "websocket"])
async def test_the_python_sdk(tmp_path: Path, kind: str, require_all: bool) -> None:
    workspace, home = folders(tmp_path)
    async with serve(conversation()) as model, serving(agent_environment(home, model), tmp_path) as server:
        with anyio.fail_after(WAIT_S):
            stream = await open_stream(kind, server.url, is_required=require_all)
            listener = Listener()
            agent = acp.connect_to_agent(cast("acp.Client", listener), stream)
            greeted = await agent.initialize(protocol_version=1)
            assert greeted.protocol_version == 1
            session = await agent.new_session(cwd=str(workspace), mcp_servers=[])
            edit: list[Any] = [schema.TextContentBlock(type="text", text="edit the file")]
            done = await agent.prompt(prompt=edit, session_id=session.session_id)
            assert done.stop_reason == "end_turn"
            assert (workspace / "a.py").read_text() == AFTER
            assert len(listener.asked) == 1
            assert listener.words.endswith("The file is changed.")
            await agent.close()
