"""A server with 500 tools: the first request stays small, the model finds a tool, and everybody sees the actual
call.
"""

import json
import sys
from pathlib import Path

import msgspec
import pytest

from bench.tool_search import listed_tools
from hermes_acp.core.messages import AssistantMessage, ModelRequest, ToolMessage, UserMessage, words_in
from tests.contract.test_mcp_sessions import outcome_of
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor, ShownSession, allow
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
SERVER = Path(__file__).with_name("mcp_tool_lists.py")
MERGE = "mcp__many__merge_pull_request"
ARGUMENTS = {"owner": "me", "repo": "here", "number": "7"}
SMALL = "budget: {max_schema_tokens: 100}"


def many(scene: Scene, count: int, name: str = "many") -> Json:
    """Return a server with some of the tools of `bench/tool_search.toml`, in the form that an editor uses."""
    tools = [tool for tools in listed_tools().values() for tool in tools]
    listed = [
        {
            "name": f"{tool.name}{round_ or ''}",
            "description": tool.description,
            "inputSchema": tool.parameters,
        }
        for round_ in range(-(-count // len(tools)))
        for tool in tools
    ][:count]
    file = scene.home.parent / f"{name}.json"
    file.write_text(json.dumps(listed), encoding="utf-8")
    return {"name": name, "command": sys.executable, "args": [str(SERVER), str(file)], "env": []}


async def open_ready(editor: FakeEditor, method: str, params: Json, *names: str) -> str:
    """Open a session and wait until its servers are connected."""
    since = len(editor.updates)
    session = (await editor.call(method, params)).get("sessionId") or params["sessionId"]

    def are_connected() -> bool:
        shown = ShownSession(editor, session, since).of("available_commands_update")
        commands = {one["name"] for update in shown for one in update["availableCommands"]}
        return all(f"{name}:ready" in commands for name in names)

    await editor.until(are_connected)
    return session


async def open_with(editor: FakeEditor, scene: Scene, *servers: Json) -> str:
    params = {"cwd": str(scene.project), "mcpServers": list(servers)}
    return await open_ready(editor, "session/new", params, *(server["name"] for server in servers))


def size_of(request: ModelRequest) -> int:
    return len(msgspec.json.encode((request.system, request.messages, request.tools)))


def names_in(request: ModelRequest) -> list[str]:
    return [tool.name for tool in request.tools]


def notes_in(request: ModelRequest) -> str:
    notes = [m for m in request.messages if isinstance(m, UserMessage) and m.origin == "program"]
    return "\n".join(words_in(note.parts, "\n") for note in notes)


@pytest.mark.slow
@pytest.mark.parametrize("count", [500, 2_000])
async def test_the_first_request_with_many_tools_is_small(scene: Scene, count: int) -> None:
    scene.provider.plays(step("Hi."), step("Hi."))
    async with scene.editor() as editor:
        await editor.prompt(await open_with(editor, scene))
        await editor.prompt(await open_with(editor, scene, many(scene, count)))
    without, with_many = scene.provider.requests
    assert size_of(with_many) - size_of(without) <= 12_000
    assert set(names_in(with_many)) - set(names_in(without)) == {"tool_search", "call_tool"}
    assert ("merge_pull_request" if count == 500 else "many (2000 tools): ") in notes_in(with_many)


async def test_a_found_tool_is_called_and_everybody_sees_the_actual_call(scene: Scene) -> None:
    scene.configure(SMALL)
    wrapped = call("call_tool", "c2", name=MERGE, arguments=ARGUMENTS)
    scene.provider.plays(
        step(call("tool_search", "c1", query="merge pull request")), step(wrapped), step("Merged.")
    )
    async with scene.editor() as editor:
        session = await open_with(editor, scene, many(scene, 40))
        assert await editor.prompt(session, "merge it") == "end_turn"
        shown = ShownSession(editor, session)
    first, second, third = scene.provider.requests
    assert first.tools == second.tools == third.tools
    assert third.messages[: len(second.messages)] == second.messages
    found = outcome_of(second, "tool_search").splitlines()[1]
    assert json.loads(found)["name"] == MERGE
    assert json.loads(found)["parameters"]["required"] == ["owner", "repo", "number"]
    (asked,) = editor.asks("session/request_permission")
    assert asked["toolCall"]["title"] == "merge_pull_request (many)"
    assert shown.cards["c2"]["rawInput"] == ARGUMENTS
    assert [m.name for m in third.messages if isinstance(m, ToolMessage)] == ["tool_search", "call_tool"]
    (sent,) = [m for m in third.messages if isinstance(m, AssistantMessage)][1].tool_calls
    assert (sent.name, json.loads(sent.arguments)) == ("call_tool", {"name": MERGE, "arguments": ARGUMENTS})
    assert f"merge_pull_request {json.dumps(ARGUMENTS)}" in outcome_of(third, "call_tool")
    assert f'"name":"{MERGE}"' in scene.record_of(session).read_text(encoding="utf-8")


async def test_a_permanent_answer_is_for_the_actual_tool(scene: Scene) -> None:
    scene.configure(SMALL)
    again = {**ARGUMENTS, "number": "8"}
    comment = {**again, "body": "Done."}
    scene.provider.plays(
        step(call("call_tool", "c1", name=MERGE, arguments=ARGUMENTS)),
        step(call("call_tool", "c2", name="merge_pull_request", arguments=again)),
        step(call("call_tool", "c3", name="many.add_issue_comment", arguments=comment)),
        step("Done."),
    )
    async with scene.editor() as editor:
        editor.on["session/request_permission"] = allow("allow_always")
        await editor.prompt(await open_with(editor, scene, many(scene, 40)))
    asked = [ask["toolCall"]["toolCallId"] for ask in editor.asks("session/request_permission")]
    assert asked == ["c1", "c3"]


async def test_wrong_arguments_are_answered_with_the_parameters_and_not_sent(scene: Scene) -> None:
    scene.configure(SMALL)
    scene.provider.plays(
        step(call("call_tool", "c1", name=MERGE, arguments={"owner": "me", "number": 7})),
        step(call("call_tool", "c2", name="mcp__many__nothing", arguments={})),
        step("I see."),
    )
    async with scene.editor() as editor:
        await editor.prompt(await open_with(editor, scene, many(scene, 40)))
    reported = outcome_of(scene.provider.requests[1], "call_tool")
    assert "arguments.repo is missing" in reported
    assert "arguments.number must be string" in reported
    assert '"properties"' in reported
    assert "There is no tool 'mcp__many__nothing'" in outcome_of(scene.provider.requests[2], "call_tool")
    assert not editor.asks("session/request_permission")


async def test_a_resumed_session_calls_what_it_found_before(scene: Scene) -> None:
    scene.configure(SMALL)
    server = many(scene, 40)
    scene.provider.plays(
        step(call("tool_search", "c1", query="merge")),
        step(call("call_tool", "c2", name=MERGE, arguments=ARGUMENTS)),
        step("Done."),
    )
    async with scene.editor() as editor:
        session = await open_with(editor, scene, server)
        await editor.prompt(session)
    again = {**ARGUMENTS, "number": "9"}
    scene.provider.plays(step(call("call_tool", "c3", name=MERGE, arguments=again)), step("Done again."))
    async with scene.editor() as editor:
        params: Json = {"sessionId": session, "cwd": str(scene.project), "mcpServers": [server]}
        await open_ready(editor, "session/load", params, "many")
        assert ShownSession(editor, session).cards["c2"]["rawInput"] == ARGUMENTS
        await editor.prompt(session, "once more")
        assert ShownSession(editor, session).cards["c3"]["status"] == "completed"
    before, after = scene.provider.requests[2], scene.provider.requests[3]
    assert after.tools == before.tools
    assert after.messages[: len(before.messages)] == before.messages
    assert notes_in(after) == notes_in(before)


async def test_added_and_removed_tools_are_reported_in_a_note_and_leave_the_tools_unchanged(
    scene: Scene,
) -> None:
    scene.configure(SMALL)
    scene.provider.plays(step("One."), step("Two."))
    async with scene.editor() as editor:
        session = await open_with(editor, scene, many(scene, 30))
        await editor.prompt(session)
        params: Json = {
            "sessionId": session,
            "cwd": str(scene.project),
            "mcpServers": [many(scene, 30), many(scene, 40, "more")],
        }
        await open_ready(editor, "session/load", params, "many", "more")
        await editor.prompt(session)
    before, after = scene.provider.requests
    assert after.tools == before.tools
    assert after.messages[: len(before.messages)] == before.messages
    assert notes_in(after).count("[Tools of MCP servers.") == 2


async def test_a_child_agent_finds_tools_too(scene: Scene) -> None:
    scene.configure(SMALL)
    scene.provider.plays(
        step(call("delegate", "c1", tasks=[{"title": "Merge", "instructions": "Merge it."}])),
        step(call("call_tool", "c2", name=MERGE, arguments=ARGUMENTS)),
        step("Merged."),
        step("Done."),
    )
    async with scene.editor() as editor:
        await editor.prompt(await open_with(editor, scene, many(scene, 40)))
    _, first, second, _ = scene.provider.requests
    assert "You are a child agent" in str(second.system)
    assert "merge_pull_request" in notes_in(first)
    assert "merge_pull_request {" in outcome_of(second, "call_tool")
    assert "call_tool" in str(second.system)
    assert MERGE not in str(second.system)


async def test_below_the_budget_nothing_changes(scene: Scene) -> None:
    scene.provider.plays(step(call(MERGE, "c1", **ARGUMENTS)), step("Merged."))
    async with scene.editor() as editor:
        await editor.prompt(await open_with(editor, scene, many(scene, 40)))
    first, second = scene.provider.requests
    assert MERGE in names_in(first)
    assert "tool_search" not in names_in(first)
    assert "Tools of MCP servers" not in notes_in(first)
    assert "merge_pull_request {" in outcome_of(second, MERGE)


async def test_after_a_compaction_the_list_is_reported_again(scene: Scene) -> None:
    scene.configure(f"{SMALL}\ncompaction: {{keep: 0}}")
    scene.provider.plays(step("Words. " * 3_000), step("A summary."), step("Three."))
    async with scene.editor() as editor:
        session = await open_with(editor, scene, many(scene, 40))
        await editor.prompt(session, "one")
        await editor.prompt(session, "/compact")
        await editor.prompt(session, "three")
    last = scene.provider.requests[-1]
    assert "Words." not in str(last.messages)
    assert notes_in(last).count("[Tools of MCP servers.") == 1


async def test_removed_tools_are_reported_once(scene: Scene) -> None:
    scene.configure(SMALL)
    scene.provider.plays(
        step("One."), step(call("call_tool", "c1", name=MERGE, arguments={})), step("Two."), step("Three.")
    )
    async with scene.editor() as editor:
        session = await open_with(editor, scene, many(scene, 30))
        await editor.prompt(session)
        params: Json = {"sessionId": session, "cwd": str(scene.project), "mcpServers": []}
        await editor.call("session/load", params)
        await editor.prompt(session, "two")
        await editor.prompt(session, "three")
    last = scene.provider.requests[-1]
    assert not {"tool_search", "call_tool"} & set(names_in(last))
    assert notes_in(last).count("[Tools of MCP servers. None are left") == 1
    assert "There is no tool" in outcome_of(last, "call_tool")
