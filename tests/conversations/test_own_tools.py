"""Tools that the agent or its user wrote: from the turn that writes one to later turns that use it."""

import json
from pathlib import Path

import pytest

from hermes_acp.core.messages import ModelRequest, ToolMessage
from hermes_acp.tools.custom.tool_failures import MAX_CONSECUTIVE_FAILURES
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor, ShownSession, allow
from tests.conversations.scripted_provider import Step, call, step

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"
GREETS = """
TOOL = {"name": "greet", "description": "Greet somebody.", "files": "none"}


def run(name: str) -> str:
    return f"Hello, {name}!"
"""
BREAKS = GREETS.replace('f"Hello, {name}!"', "name / 2")


def outcome_of(request: ModelRequest) -> str:
    return next(m.text for m in reversed(request.messages) if isinstance(m, ToolMessage))


def offered(request: ModelRequest) -> set[str]:
    return {tool.name for tool in request.tools}


def writes(text: str = GREETS, call_id: str = "w1", **more: object) -> Step:
    arguments = {"action": "create", "name": "greet", "reason": "Needed often", "text": text, **more}
    return step(call("tool_manage", call_id, **arguments))


def own_file(scene: Scene, text: str = GREETS) -> Path:
    path = scene.home / "tools" / "greet.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def titles(editor: FakeEditor) -> list[str]:
    return [ask["toolCall"]["title"] for ask in editor.asks(ASK)]


async def test_a_tool_written_in_one_turn_is_available_in_the_next(scene: Scene) -> None:
    scene.provider.plays(
        writes(), step("Written."), step(call("greet", "g1", name="Ada")), step("Done."),
    )  # fmt: skip
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        await editor.prompt(session)
        reported = ShownSession(editor, session)
    (asked,) = editor.asks(ASK)
    assert "Write the tool greet, yours" in asked["toolCall"]["title"]
    assert "sees no files; no network" in asked["toolCall"]["title"]
    assert any(part.get("newText") == GREETS for part in asked["toolCall"]["content"])
    before, same_turn, after = (offered(request) for request in scene.provider.requests[:3])
    assert ["greet" in names for names in (before, same_turn, after)] == [False, False, True]
    text = outcome_of(scene.provider.requests[3])
    assert "Hello, Ada!" in text
    assert "untrusted" in text
    assert reported.cards["g1"]["status"] == "completed"


@pytest.mark.parametrize(("needed", "is_offered"), [("glob", True), ("no_such_tool", False)])
async def test_a_tool_is_offered_only_with_those_it_needs(
    scene: Scene, needed: str, is_offered: bool
) -> None:
    own_file(scene, GREETS.replace('"files": "none"', f'"files": "none", "needs": ["{needed}"]'))
    scene.provider.plays(step("Hello."))
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
    assert ("greet" in offered(scene.provider.requests[0])) == is_offered


async def test_an_invalid_tool_is_reported_before_anybody_is_asked(scene: Scene) -> None:
    text = 'import subprocess\nTOOL = {"name": "great", "description": ""}\ndef run(a): return open(a)\n'
    scene.provider.plays(writes(text), step("Oh."))
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
    reported = outcome_of(scene.provider.requests[1])
    assert titles(editor) == []
    for fault in (
        "greet.py:1: subprocess starts programs",
        "greet.py:2: the tool is named 'great'",
        "greet.py:3:",
    ):
        assert fault in reported
    assert not (scene.home / "tools").exists()


async def test_a_rejected_tool_is_not_written_and_plan_mode_writes_none(scene: Scene) -> None:
    scene.provider.plays(writes(), step("Well."), writes(call_id="w2"), step("Well."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("reject_once")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        await editor.call("session/set_mode", {"sessionId": session, "modeId": "plan"})
        await editor.prompt(session)
        cards = ShownSession(editor, session).cards
    assert [cards[each]["status"] for each in ("w1", "w2")] == ["failed", "failed"]
    assert len(titles(editor)) == 1
    assert not (scene.home / "tools").exists()


async def test_a_failing_tool_reports_the_error_and_is_finally_archived(scene: Scene) -> None:
    own_file(scene, BREAKS)
    for number in range(MAX_CONSECUTIVE_FAILURES + 1):
        scene.provider.plays(step(call("greet", f"g{number}", name="Ada")), step("Hm."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_workspace")
        session = await editor.new_session(scene.project)
        for _ in range(MAX_CONSECUTIVE_FAILURES + 1):
            await editor.prompt(session)
        notices = "".join(
            u["content"]["text"] for u in ShownSession(editor, session).of("agent_thought_chunk")
        )
    (title,) = titles(editor)
    assert "tool greet" in title
    requests = scene.provider.requests
    first = outcome_of(requests[1])
    assert 'File "greet.py", line 6, in run' in first
    assert "TypeError" in first
    assert "1 in a row" in first
    assert "greet" in offered(requests[2 * MAX_CONSECUTIVE_FAILURES - 2])
    assert "greet" not in offered(requests[2 * MAX_CONSECUTIVE_FAILURES])
    assert "is disabled" in notices


async def test_a_manual_change_needs_approval_again_and_is_used_from_the_next_turn(scene: Scene) -> None:
    path = own_file(scene)
    scene.provider.plays(*(step("Done.") for _ in range(3)))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_workspace")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        path.write_text(GREETS.replace("Hello", "Good evening"))
        editor.on[ASK] = allow("reject_once")
        await editor.prompt(session)
        path.unlink()
        await editor.prompt(session)
    assert len(titles(editor)) == 2
    assert ["greet" in offered(request) for request in scene.provider.requests] == [True, False, False]


async def test_earlier_versions_and_archived_tools_are_restored(scene: Scene) -> None:
    def manage(number: int, action: str, **more: object) -> Step:
        arguments = {"action": action, "name": "greet", "reason": f"change {number}", **more}
        return step(call("tool_manage", f"m{number}", **arguments))

    scene.provider.plays(
        writes(),
        manage(2, "patch", old_text="Hello", text="Ahoy"),
        manage(3, "rollback"),
        manage(4, "delete"),
        manage(5, "rollback", version=2),
        step("Done."),
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        cards = ShownSession(editor, session).cards
    assert {card["status"] for card in cards.values()} == {"completed"}
    assert len(titles(editor)) == 5
    assert "Ahoy" in (scene.home / "tools" / "greet.py").read_text()
    (shelf,) = (scene.home / "history" / "tools").iterdir()
    kept = [json.loads(path.read_text()) for path in sorted((shelf / "versions").glob("*.json"))]
    assert [each["cause"]["who"] for each in kept] == ["agent"] * 5
    assert [each["cause"]["session_id"] for each in kept] == [session] * 5


async def test_a_workspaces_tool_is_used_only_when_its_content_is_trusted(scene: Scene) -> None:
    scene.write(".hermes/tools/greet.py", GREETS)
    scene.provider.plays(*(step("Done.") for _ in range(3)))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("reject_once")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        editor.on[ASK] = allow("allow_workspace")
        await editor.prompt(session, "/trust")
        await editor.prompt(session)
        scene.write(".hermes/tools/greet.py", GREETS + "\n# other\n")
        editor.on[ASK] = allow("reject_once")
        await editor.prompt(session)
    assert ["greet" in offered(request) for request in scene.provider.requests] == [False, True, False]


async def test_the_declared_effects_of_a_tool_are_what_policy_checks(scene: Scene) -> None:
    own_file(scene, GREETS.replace('"files": "none"', '"files": "write", "network": ["api.example.com"]'))
    scene.provider.plays(step(call("greet", "g1", name="Ada")), step("Done."))
    scene.provider.plays(step(call("greet", "g2", name="Ada")), step("Done."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_workspace")
        session = await editor.new_session(scene.project)
        editor.on[ASK] = lambda params: allow(
            "allow_workspace" if "Trust" in params["toolCall"]["title"] else "reject_once"
        )(params)
        await editor.prompt(session)
        assert len(titles(editor)) == 2
        await editor.call("session/set_mode", {"sessionId": session, "modeId": "plan"})
        await editor.prompt(session)
        cards = ShownSession(editor, session).cards
    assert [cards[each]["status"] for each in ("g1", "g2")] == ["failed", "failed"]
    assert len(titles(editor)) == 2
    assert "plan mode" in outcome_of(scene.provider.requests[3])
