"""MCP servers from an editor or from the user's settings, from session/new to the model's answer."""

import sys
from itertools import count
from typing import Any

import anyio
import pytest

from hermes_acp.core.messages import ModelRequest, ToolMessage
from hermes_protocol.errors import INVALID_PARAMS
from tests.contract.mcp_playground import EXAMPLE
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor, ShownSession, allow
from tests.conversations.scripted_provider import Step, call, step
from tests.conversations.shared_app import strangers
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
ADD = "mcp__example__add"


def example(scene: Scene, name: str = "example") -> Json:
    return {
        "name": name,
        "command": sys.executable,
        "args": [str(EXAMPLE), "stdio", str(scene.home.parent)],
        "env": [{"name": "GIVEN", "value": "1"}],
    }


async def open_with(editor: FakeEditor, scene: Scene, *servers: Json) -> str:
    params = {"cwd": str(scene.project), "mcpServers": list(servers)}
    session = (await editor.call("session/new", params))["sessionId"]
    if any(str(EXAMPLE) in server["args"] for server in servers):
        await example_is_there(editor, session)
    return session


async def example_is_there(editor: FakeEditor, session: str, since: int = 0) -> None:
    """Wait until the example server is connected: its prompt is then among the commands."""

    def has_prompt() -> bool:
        reported = ShownSession(editor, session, since).of("available_commands_update")
        return any(
            one["name"].endswith(":greet") for update in reported for one in update["availableCommands"]
        )

    await editor.until(has_prompt)


def outcome_of(request: ModelRequest, name: str = ADD) -> str:
    return next(m.text for m in reversed(request.messages) if isinstance(m, ToolMessage) and m.name == name)


def starts(scene: Scene) -> int:
    noted = scene.home.parent / "events.txt"
    return noted.read_text(encoding="utf-8").count("start") if noted.exists() else 0


async def test_a_server_that_ends_at_once_is_reported_in_the_first_turn_and_never_again(scene: Scene) -> None:
    scene.provider.plays(step("Done."), step("Done."))
    reported = "The MCP server 'dead' cannot be used: it ended. "
    dead: Json = {"name": "dead", "command": "/bin/false", "args": [], "env": []}
    async with scene.editor() as editor:
        session = await open_with(editor, scene, dead)
        while "it ended" not in ShownSession(editor, session).text:  # A first turn would not wait forever.
            await editor.prompt(session, "/mcp")
        for words in ("one", "two"):
            await editor.prompt(session, words)
            assert ShownSession(editor, session).thoughts.count(reported) == 1


async def test_the_model_calls_a_tool_of_the_editors_server(scene: Scene) -> None:
    scene.provider.plays(step(call(ADD, "c1", a=2, b=40)), step("It is 42."))
    async with scene.editor() as editor:
        session = await open_with(editor, scene, example(scene))
        assert await editor.prompt(session, "add") == "end_turn"
        reported = ShownSession(editor, session)
    asked = editor.asks("session/request_permission")
    assert [ask["toolCall"]["toolCallId"] for ask in asked] == ["c1"]
    card = reported.cards["c1"]
    assert card["title"] == "add (example)"
    assert card["rawInput"] == {"a": 2, "b": 40}
    assert reported.statuses("c1") == ["pending", "in_progress", "completed"]
    offered = [tool.name for tool in scene.provider.requests[0].tools]
    builtin = [name for name in offered if "mcp_" not in name]
    further = [name for name in offered if "mcp_" in name]
    assert offered == [*builtin, *sorted(further)]
    assert builtin
    assert ADD in further
    text = outcome_of(scene.provider.requests[1])
    assert text.startswith("[Output of the MCP server 'example', untrusted")
    assert text.splitlines()[1] == "42"


async def test_a_permanent_answer_is_for_exactly_this_tool(scene: Scene) -> None:
    other = "mcp__example__shape_of_things"
    scene.provider.plays(
        step(call(ADD, "c1", a=1, b=1)),
        step(call(ADD, "c2", a=2, b=2)),
        step(call(other, "c3")),
        step("Done."),
    )
    async with scene.editor() as editor:
        editor.on["session/request_permission"] = allow("allow_always")
        session = await open_with(editor, scene, example(scene))
        await editor.prompt(session)
    asked = [ask["toolCall"]["toolCallId"] for ask in editor.asks("session/request_permission")]
    assert asked == ["c1", "c3"]


async def test_plan_mode_asks_for_tools_called_read_only_and_refuses_others(scene: Scene) -> None:
    scene.provider.plays(step(call(ADD, "c1", a=1, b=1), call("mcp__example__crash", "c2")), step("Done."))
    async with scene.editor() as editor:
        session = await open_with(editor, scene, example(scene))
        await editor.set_mode(session, "plan")
        await editor.prompt(session)
    asked = [ask["toolCall"]["toolCallId"] for ask in editor.asks("session/request_permission")]
    assert asked == ["c1"]
    assert "plan mode does not call server tools" in outcome_of(
        scene.provider.requests[1], "mcp__example__crash"
    )


async def test_a_cancelled_turn_cancels_the_call(scene: Scene) -> None:
    scene.provider.plays(step(call("mcp__example__slow", "c1")))
    async with scene.editor() as editor:
        session = await open_with(editor, scene, example(scene))
        stopped: list[str] = []
        async with anyio.create_task_group() as tasks:

            async def prompt() -> None:
                stopped.append(await editor.prompt(session))

            tasks.start_soon(prompt)
            await editor.until(lambda: "warming up" in str(ShownSession(editor, session).cards.get("c1")))
            editor.cancel(session)
        assert stopped == ["cancelled"]
        assert ShownSession(editor, session).statuses("c1")[-1] == "failed"
        events = scene.home.parent / "events.txt"
        while "cancelled" not in events.read_text(encoding="utf-8"):
            await anyio.sleep(0.01)


async def test_a_server_that_cannot_start_causes_a_notice_and_ends_no_turn(scene: Scene) -> None:
    scene.provider.plays(step("Hello."))
    broken: Json = {"name": "broken", "command": "no-such-program-anywhere", "args": [], "env": []}
    async with scene.editor() as editor:
        session = await open_with(editor, scene, broken)
        assert await editor.prompt(session) == "end_turn"
        assert ShownSession(editor, session).text == "Hello."
    assert not [tool for tool in scene.provider.requests[0].tools if tool.name.startswith("mcp__")]


async def test_a_loaded_session_has_the_servers_it_is_loaded_with(scene: Scene) -> None:
    def answer(request: ModelRequest) -> Step:
        return step(",".join(tool.name for tool in request.tools if tool.name.endswith("__add")) or "none")

    scene.provider.answer = answer
    async with scene.editor() as editor:
        session = await open_with(editor, scene)
        await editor.prompt(session)
        params: Any = {"sessionId": session, "cwd": str(scene.project), "mcpServers": [example(scene)]}
        for method in ("session/resume", "session/load"):
            since = len(editor.updates)
            await editor.call(method, params)
            await example_is_there(editor, session, since)
            await editor.prompt(session, method)
            assert ADD in ShownSession(editor, session, since).text
        assert starts(scene) == 1
        await editor.call("session/load", params | {"mcpServers": []})
        since = len(editor.updates)
        await editor.prompt(session, "again")
        assert ShownSession(editor, session, since).text == "none"


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
async def test_servers_get_the_current_folders_of_a_session(scene: Scene, method: str) -> None:
    other = scene.home.parent / "other"
    other.mkdir()
    async with scene.editor() as editor:
        session = await open_with(editor, scene, example(scene))
        params: Json = {"sessionId": session, "cwd": str(scene.project)}
        if method == "session/load":
            params["mcpServers"] = [example(scene)]
        await editor.call(method, params)
        assert starts(scene) == 1
        since = len(editor.updates)
        await editor.call(method, {**params, "additionalDirectories": [str(other)]})
        await example_is_there(editor, session, since)
        reported = absent = "There is no tool"
        numbers = count()
        while absent in reported:  # No turn waits forever for a server that restarts.
            scene.provider.plays(step(call("mcp__example__folders", f"c{next(numbers)}")), step("Done."))
            await editor.prompt(session)
            reported = outcome_of(scene.provider.requests[-1], "mcp__example__folders")
    assert other.as_uri() in reported


async def test_the_users_own_servers_ask_once_a_user_can_be_asked(scene: Scene) -> None:
    own = example(scene)
    scene.overrides["mcp_servers"] = {"mine": {"command": own["command"], "args": own["args"]}}
    order = step(call("mcp__mine__order", what="shoes"))
    async with strangers(scene, 2) as (deaf, hearing):
        await deaf.initialize()
        session = await deaf.new_session(scene.project)
        await example_is_there(deaf, session)
        scene.provider.plays(order, step("Done."))
        await deaf.prompt(session)
        assert "shoes: {" not in outcome_of(scene.provider.requests[-1], "mcp__mine__order")
        await hearing.initialize(elicitation={"form": {}})
        hearing.on["elicitation/create"] = lambda params: {"action": "accept", "content": {"size": 42}}
        session = await hearing.new_session(scene.project)
        await example_is_there(hearing, session)
        scene.provider.plays(order, step("Done."))
        await hearing.prompt(session)
        assert "shoes: {'size': 42" in outcome_of(scene.provider.requests[-1], "mcp__mine__order")
    assert starts(scene) == 2


async def test_the_users_own_servers_serve_every_session_with_one_connection(scene: Scene) -> None:
    own = example(scene)
    scene.overrides["mcp_servers"] = {"mine": {"command": own["command"], "args": own["args"]}}
    scene.provider.answer = lambda request: (
        step("Done.")
        if isinstance(request.messages[-1], ToolMessage)
        else step(call("mcp__mine__add", a=1, b=2))
    )
    async with scene.editor() as editor:
        for _ in range(2):
            session = await editor.new_session(scene.project)
            await example_is_there(editor, session)
            assert await editor.prompt(session) == "end_turn"
            assert "3" in outcome_of(scene.provider.requests[-1], "mcp__mine__add")
    assert starts(scene) == 1


@pytest.mark.parametrize(
    "server",
    [
        {"type": "acp", "name": "x", "serverId": "1"},
        {"type": "http", "name": "x", "url": "file:///etc/passwd", "headers": []},
        {"type": "http", "name": "x", "url": "http://h/", "headers": [{"name": "A", "value": "b\r\nc"}]},
        {"name": "x", "command": "", "args": [], "env": []},
        {"name": "x", "command": "a", "args": ["\0"], "env": []},
    ],
    ids=["acp", "scheme", "header", "command", "nul"],
)
async def test_an_unusable_server_is_rejected(scene: Scene, server: Json) -> None:
    async with scene.editor() as editor:
        params = {"cwd": str(scene.project), "mcpServers": [server]}
        refusal = await editor.refusal("session/new", params)
    assert refusal.code == INVALID_PARAMS
    assert not list((scene.home / "sessions").glob("*"))


async def test_http_and_sse_are_announced(scene: Scene) -> None:
    async with scene.strange_editor() as editor:
        capabilities = (await editor.initialize())["agentCapabilities"]
    assert capabilities["mcpCapabilities"] == {"http": True, "sse": True}
