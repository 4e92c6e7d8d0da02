"""MCP servers that a workspace names: started when its user trusts them, and no others."""

import json
import sys

import pytest

from tests.contract.mcp_playground import EXAMPLE
from tests.contract.test_mcp_sessions import ADD, example_is_there, outcome_of, starts
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor, allow
from tests.conversations.scripted_provider import call, step

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"


def name_server(scene: Scene, *more: str) -> None:
    server = {"command": sys.executable, "args": [str(EXAMPLE), "stdio", str(scene.home.parent), *more]}
    scene.write(".mcp.json", json.dumps({"mcpServers": {"example": server}}))


def trusts(editor: FakeEditor) -> int:
    return sum("contains: MCP server" in ask["toolCall"]["title"] for ask in editor.asks(ASK))


async def test_a_trusted_server_starts_and_one_that_changed_asks_again(scene: Scene) -> None:
    name_server(scene)
    scene.provider.plays(step("Hello."), step(call(ADD, "c1", a=2, b=40)), step("It is 42."))
    scene.provider.plays(*(step("Done.") for _ in range(3)))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_workspace")
        session = await editor.new_session(scene.project)
        assert starts(scene) == 0
        await editor.prompt(session)
        await example_is_there(editor, session)
        await editor.prompt(session)
        assert "42" in outcome_of(scene.provider.requests[-1])
        assert (starts(scene), trusts(editor)) == (1, 1)
    async with scene.editor() as editor:
        editor.on[ASK] = allow("reject_once")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        await example_is_there(editor, session)
        assert (starts(scene), trusts(editor)) == (2, 0)
        name_server(scene, "--changed")
        await editor.prompt(session)
        assert trusts(editor) == 1
        assert ADD not in {tool.name for tool in scene.provider.requests[-1].tools}
        await editor.prompt(await editor.new_session(scene.project))
    assert starts(scene) == 2


async def test_a_workspaces_server_cannot_take_the_name_of_a_users_server(scene: Scene) -> None:
    name_server(scene)
    own = {
        "command": sys.executable,
        "args": [str(EXAMPLE), "stdio", str(scene.home.parent)],
        "env": {"GIVEN": "own"},
    }
    scene.configure(json.dumps({"mcp_servers": {"example": own}}))
    scene.provider.plays(step("Hello."), step("Done."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_workspace")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        await example_is_there(editor, session)
        await editor.prompt(session)
        names = [tool.name for tool in scene.provider.requests[-1].tools]
        assert names.count(ADD) == 1
