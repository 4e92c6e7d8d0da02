"""MCP servers inside the editor, and what servers offer besides tools, from session/new to the model."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from hermes_acp.core.messages import ModelRequest, ResourcePart, ToolMessage, UserMessage
from hermes_protocol.errors import PeerError
from tests.conversations.app_scene import Scene
from tests.conversations.carried_server import META, CarriedServer
from tests.conversations.draft_editor import HELLO, saying
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import Pause, call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
REVIEW = "carried:review"
FORMS: Json = {"elicitation": {"form": {}}}


@pytest.fixture
def unstable(scene: Scene) -> Scene:
    scene.offer_unstable()
    return scene


@asynccontextmanager
async def carrying(
    scene: Scene, **capabilities: Any
) -> AsyncGenerator[tuple[FakeEditor, CarriedServer, str]]:
    """Start an editor that has an MCP server, and a session that is connected to it."""
    async with scene.editor(**capabilities) as editor:
        server = CarriedServer(editor)
        yield editor, server, await open_session(scene, editor, server)


async def open_session(scene: Scene, editor: FakeEditor, server: CarriedServer) -> str:
    """Start a session and wait until its server is connected: its prompt is then among the commands."""
    params = {"cwd": str(scene.project), "mcpServers": [server.declaration]}
    session = (await editor.call("session/new", params))["sessionId"]
    await editor.until(
        lambda: REVIEW in commands(ShownSession(editor, session))
    )  # A first turn waits, but not forever.
    return session


def commands(reported: ShownSession) -> dict[str, Json]:
    updates = reported.of("available_commands_update")
    return {command["name"]: command for update in updates[-1:] for command in update["availableCommands"]}


def outcome(request: ModelRequest) -> str:
    return next(message.text for message in reversed(request.messages) if isinstance(message, ToolMessage))


async def test_the_server_is_announced_and_called(unstable: Scene) -> None:
    unstable.provider.plays(step(call("mcp__carried__echo", "c1", text="hi")), step("Done."))
    async with carrying(unstable) as (editor, server, session):
        assert await editor.prompt(session) == "end_turn"
        asked = editor.asks("session/request_permission")
    assert [ask["toolCall"]["title"] for ask in asked] == ["echo (carried)"]
    assert "echo: {'text': 'hi'}" in outcome(unstable.provider.requests[1])
    assert outcome(unstable.provider.requests[1]).startswith("[Output of the MCP server 'carried', untrusted")
    ids = [request["requestId"] for request in server.requests]
    assert len(set(ids)) == len(ids)


async def test_the_capability_is_announced(unstable: Scene) -> None:
    async with unstable.strange_editor() as editor:
        capabilities = (await editor.initialize())["agentCapabilities"]
    assert capabilities["mcpCapabilities"] == {"http": True, "sse": True, "acp": True}


async def test_two_sessions_use_one_server_without_mixing_ids(unstable: Scene) -> None:
    unstable.provider.answer = lambda request: (
        step("Done.")
        if isinstance(request.messages[-1], ToolMessage)
        else step(call("mcp__carried__echo", "c1"))
    )
    async with carrying(unstable) as (editor, server, first):
        second = await open_session(unstable, editor, server)
        for session in (first, second):
            assert await editor.prompt(session) == "end_turn"
        ids = [request["requestId"] for request in server.requests]
    assert len(set(ids)) == len(ids)


async def test_progress_is_live_output_and_a_cancel_reaches_the_server(unstable: Scene) -> None:
    unstable.provider.plays(step(call("mcp__carried__slow", "c1")))
    async with carrying(unstable) as (editor, server, session):
        stopped: list[str] = []
        async with anyio.create_task_group() as tasks:

            async def prompt() -> None:
                stopped.append(await editor.prompt(session))

            tasks.start_soon(prompt)
            await editor.until(
                lambda: "1 of 3: warming up" in str(ShownSession(editor, session).cards.get("c1"))
            )
            editor.cancel(session)
        assert stopped == ["cancelled"]
        await server.cancelled.wait()


async def test_errors_of_the_server_and_of_the_connection_are_outcomes(unstable: Scene) -> None:
    unstable.provider.plays(
        step(call("mcp__carried__broken", "c1")), step(call("mcp__carried__echo", "c2")), step("So.")
    )
    async with carrying(unstable) as (editor, server, session):
        asked = editor.on["session/request_permission"]

        def gone(params: Json) -> Any:
            if params["toolCall"]["toolCallId"] == "c2":
                editor.on["mcp/message"] = refuse
            return asked(params)

        def refuse(params: Json) -> Any:
            raise PeerError(-33001, "MCP server registration unavailable")

        editor.on["session/request_permission"] = gone
        assert await editor.prompt(session) == "end_turn"
        del server
    assert "the moon is in the wrong place" in outcome(unstable.provider.requests[1])
    gone_in_the_call_or_before = ("its effect is not known", "is not connected")
    assert outcome(unstable.provider.requests[2]).endswith(
        tuple(f"{end}." for end in gone_in_the_call_or_before)
    )


async def test_a_prompt_is_a_slash_command(unstable: Scene) -> None:
    unstable.provider.plays(step("Reviewed."))
    async with carrying(unstable) as (editor, server, session):
        assert await editor.prompt(session, f"/{REVIEW} a.py") == "end_turn"
        reported = ShownSession(editor, session)
        assert commands(reported)[REVIEW] == {
            "name": REVIEW,
            "description": "Review a file",
            "input": {"hint": "<path>"},
        }
        assert list(commands(reported))[:2] == ["status", "cost"]
        await editor.prompt(session, f"/{REVIEW}")
        assert ShownSession(editor, session).text.endswith(f"/{REVIEW} needs path. Write: /{REVIEW} <path>")
        assert [request["params"]["arguments"] for request in server.asked("prompts/get")] == [
            {"path": "a.py"}
        ]
    (request,) = unstable.provider.requests
    message = next(each for each in request.messages if isinstance(each, UserMessage))
    typed, filled = message.parts[0], message.parts[-1]
    assert getattr(typed, "text", "") == f"/{REVIEW} a.py"
    assert isinstance(filled, ResourcePart)
    assert filled.uri == "mcp://carried/prompts/review"
    assert filled.text.splitlines()[1] == "Review a.py with care."


async def test_changed_prompts_are_announced(unstable: Scene) -> None:
    async with carrying(unstable) as (editor, server, session):
        await editor.until(lambda: server.listening)
        await editor.until(lambda: "write-a-skill" in commands(ShownSession(editor, session)))
        server.prompts.append({"name": "explain"})
        server.tell_of_change("prompts")
        await editor.until(lambda: "carried:explain" in commands(ShownSession(editor, session)))
        server.prompts.clear()
        server.tell_of_change("prompts")
        await editor.until(lambda: REVIEW not in commands(ShownSession(editor, session)))
        count = len(ShownSession(editor, session).of("available_commands_update"))
        server.tools.append("later")
        server.tell_of_change("tools")
        unstable.provider.answer = lambda request: step(", ".join(tool.name for tool in request.tools))
        while "mcp__carried__later" not in ShownSession(editor, session).text:
            await editor.prompt(session)
        assert len(ShownSession(editor, session).of("available_commands_update")) == count


async def test_a_command_during_a_turn_gets_its_own_turn_where_text_would_steer(unstable: Scene) -> None:
    pause = Pause()
    unstable.provider.plays(step("Working.", pause), step("Reviewed."))
    async with carrying(unstable) as (editor, server, session):
        await editor.until(lambda: server.listening)
        option = {"sessionId": session, "configId": "during_turn", "value": "steer"}
        await editor.call("session/set_config_option", option)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(editor.prompt, session, "go left")
            await pause.reached.wait()
            tasks.start_soon(editor.prompt, session, f"/{REVIEW} a.py")
            await editor.call("session/list", {})
            pause.go.set()
    (_, request) = unstable.provider.requests
    (*_, last) = request.messages
    assert isinstance(last, UserMessage)
    assert isinstance(last.parts[-1], ResourcePart)
    assert "Review a.py with care." in last.parts[-1].text


async def test_resources_are_listed_and_read(unstable: Scene) -> None:
    unstable.provider.plays(
        step(call("list_mcp_resources", "c1")),
        step(call("read_mcp_resource", "c2", server="carried", uri="memo://today")),
        step(call("read_mcp_resource", "c3", server="nobody", uri="memo://today")),
        step("Done."),
    )
    async with carrying(unstable) as (editor, _, session):
        await editor.prompt(session)
        asked = [ask["toolCall"]["title"] for ask in editor.asks("session/request_permission")]
    assert asked == ["Read memo://today (carried)"]
    requests = unstable.provider.requests
    assert "memo://today: today" in outcome(requests[1])
    assert "Buy milk." in outcome(requests[2])
    assert "untrusted" in outcome(requests[2])
    assert "The servers are: carried" in outcome(requests[3])


async def test_without_resources_there_are_no_tools_for_them(scene: Scene) -> None:
    scene.provider.plays(step("Done."))
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
    assert not [tool for tool in scene.provider.requests[0].tools if "resource" in tool.name]


async def test_a_servers_question_is_shown_in_the_editor(unstable: Scene) -> None:
    unstable.provider.plays(step(call("mcp__carried__order", "c1")), step("Done."))
    async with carrying(unstable, **FORMS) as (editor, server, session):
        editor.on["elicitation/create"] = lambda params: {
            "action": "accept",
            "content": {"size": 42, "colour": "red", "more": "x"},
        }
        await editor.prompt(session)
        (question,) = editor.asks("elicitation/create")
    assert question["message"] == "The MCP server 'carried' asks: Which size?"
    assert question["toolCallId"] == "c1"
    assert question["requestedSchema"]["properties"]["colour"]["enum"] == ["red", "blue"]
    assert question["requestedSchema"]["required"] == ["size"]
    assert server.answers == [{"action": "accept", "content": {"size": 42, "colour": "red"}}]


@pytest.mark.parametrize("announced", [{}, {"elicitation": {}}, FORMS, {"elicitation": {"url": {}}}])
async def test_servers_are_told_whether_anybody_can_be_asked(unstable: Scene, announced: Json) -> None:
    unstable.provider.plays(step(call("mcp__carried__order", "c1")), step("Done."))
    async with carrying(unstable, **announced) as (editor, server, session):
        editor.on["elicitation/create"] = lambda params: {"action": "decline"}
        await editor.prompt(session)
        asked = editor.asks("elicitation/create")
    reported = [request["params"]["_meta"][f"{META}clientCapabilities"] for request in server.requests]
    assert ["elicitation" in each for each in reported] == [bool(announced.get("elicitation"))] * len(
        reported
    )
    assert len(asked) == (announced is FORMS)
    assert server.answers == [{"action": "decline"}] * bool(announced.get("elicitation"))


async def test_version_2_works_too(unstable: Scene) -> None:
    unstable.variables["HERMES_ACP_DRAFT_V2"] = "1"
    unstable.schema = "v2.unstable"
    unstable.provider.plays(step(call("mcp__carried__echo", "c1", text="hi")), step("Done."))
    async with unstable.strange_editor() as editor:
        greeted = await editor.call("initialize", HELLO)
        assert greeted["capabilities"]["session"]["mcp"]["acp"] == {}
        server = CarriedServer(editor)
        params = {"cwd": str(unstable.project), "mcpServers": [server.declaration]}
        session = (await editor.call("session/new", params))["sessionId"]

        def names() -> list[str]:
            reported = ShownSession(editor, session).of("available_commands_update")
            return [each["name"] for each in reported[-1]["availableCommands"]] if reported else []

        await editor.until(lambda: REVIEW in names())
        await editor.call("session/prompt", saying(session))
        await editor.until(lambda: len(unstable.provider.requests) == 2)
    assert "echo: {'text': 'hi'}" in outcome(unstable.provider.requests[1])
