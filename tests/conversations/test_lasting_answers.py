"""Permanent answers, unanswered questions, and a mode that must be allowed explicitly."""

from typing import Any

import anyio
import pytest

from hermes_acp.config.environment import environment_of
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import ShownSession, allow
from tests.conversations.scripted_provider import Step, call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"


def runs(command: str, call_id: str) -> Step:
    return step(call("terminal", call_id, command=command))


def asked(editor: Any) -> list[str]:
    return [ask["toolCall"]["toolCallId"] for ask in editor.asks(ASK)]


async def test_an_answer_for_the_folder_applies_only_there_in_later_sessions(scene: Scene) -> None:
    (scene.project / "other").mkdir()
    command = "sh -c true"
    scene.provider.plays(
        runs(command, "c1"),
        step("Done."),
        runs(command, "c2"),
        step("Done."),
        runs(command, "c3"),
        step("Done."),
    )
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_workspace")
        await editor.prompt(await editor.new_session(scene.project))
        assert asked(editor) == ["c1"]
    kept = scene.home / "permissions.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert not [path for path in scene.project.rglob("*") if path.is_file()]
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
        await editor.prompt(await editor.new_session(scene.project / "other"))
        assert asked(editor) == ["c3"]


async def test_an_answer_depends_on_what_the_command_runs(scene: Scene) -> None:
    script = scene.write("run.sh", "true\n")
    scene.provider.plays(*(runs("sh run.sh", f"c{number}") for number in range(1, 4)), step("Done."))
    scene.provider.plays(runs("sh run.sh", "c4"), step("Done."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_always")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert asked(editor) == ["c1"]
        script.write_text("echo changed\n")
        await editor.prompt(session)
        assert asked(editor) == ["c1", "c4"]


async def test_a_question_without_an_answer_is_not_a_rejection(scene: Scene) -> None:
    scene.overrides["questions.timeout_s"] = 0.05
    scene.provider.plays(runs("sh -c true", "c1"), step("Then later."))
    async with scene.editor() as editor:
        editor.on[ASK] = lambda params: anyio.sleep_forever()
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        assert ShownSession(editor, session).statuses("c1") == ["pending", "failed"]
    reported = plain_history(scene.provider.requests[1])[-1]
    assert "nobody answered within 0.05 s" in reported
    assert "refused" not in reported


@pytest.mark.parametrize(
    "answer", [{"outcome": "cancelled"}, {"outcome": "selected", "optionId": "whatever"}]
)
async def test_an_invalid_answer_is_not_reported_as_a_rejection(scene: Scene, answer: Json) -> None:
    scene.provider.plays(runs("sh -c true", "c1"), step("Then not."))
    async with scene.editor() as editor:
        editor.on[ASK] = lambda params: {"outcome": answer}
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert ShownSession(editor, session).statuses("c1") == ["pending", "failed"]
    assert "The user refused" not in plain_history(scene.provider.requests[1])[-1]


async def test_rules_in_the_settings_are_applied(scene: Scene) -> None:
    scene.configure("rules:\n- allow: {command: sh -c true}\n- deny: {tool: list_files}\n")
    scene.provider.plays(runs("sh -c true", "c1"), step(call("list_files", "c2")), step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert asked(editor) == []
        cards = ShownSession(editor, session).cards
    assert [cards[each]["status"] for each in ("c1", "c2")] == ["completed", "failed"]
    assert "line 3 of" in plain_history(scene.provider.requests[2])[-1]


async def test_bypass_must_be_allowed_explicitly_and_ends_with_that(scene: Scene) -> None:
    scene.configure("allow_bypass: true\nmode: bypass\n")
    scene.provider.plays(runs("sh -c true", "c1"), step("Done."), runs("rm -rf /", "c2"), step("Done."))
    scene.provider.plays(runs("sh -c true", "c3"), step("Done."))
    async with scene.editor() as editor:
        answer = await editor.call("session/new", {"cwd": str(scene.project), "mcpServers": []})
        session = answer["sessionId"]
        assert answer["modes"]["currentModeId"] == "bypass"
        await editor.prompt(session)
        await editor.prompt(session)
        assert asked(editor) == []
        assert ShownSession(editor, session).cards["c2"]["status"] == "failed"
    scene.configure("mode: ask\n")
    async with scene.editor() as editor:
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        await editor.prompt(session)
        assert asked(editor) == ["c3"]
        assert "The mode is now `ask`." in str(ShownSession(editor, session).updates)


def test_only_the_command_line_can_allow_it_in_an_environment() -> None:
    assert not environment_of({"HERMES_ALLOW_BYPASS": "1", "HOME": "/home/me"}).allows_bypass


async def test_answers_are_listed_and_revoked(scene: Scene) -> None:
    scene.provider.plays(runs("sh -c true", "c1"), step("Done."), runs("sh -c id", "c2"), step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session, "/permissions")
        assert "no standing answers" in ShownSession(editor, session).text
        for answer in ("allow_always", "allow_workspace"):
            editor.on[ASK] = allow(answer)
            await editor.prompt(session)
        await editor.prompt(session, "/permissions")
        shown = ShownSession(editor, session).text
        assert "1. Allowed in this session: `sh -c true`" in shown
        assert "2. Allowed in every session of this folder: `sh -c id`" in shown
        await editor.prompt(session, "/permissions revoke 3")
        assert "Pass numbers from 1 to 2" in ShownSession(editor, session).text
        await editor.prompt(session, "/permissions revoke 1 2")
        assert "You will be asked again about:" in ShownSession(editor, session).text
        scene.provider.plays(runs("sh -c true", "c3"), step("Done."), runs("sh -c id", "c4"), step("Done."))
        editor.on[ASK] = allow("allow_once")
        await editor.prompt(session)
        await editor.prompt(session)
        assert asked(editor) == ["c1", "c2", "c3", "c4"]
    scene.provider.plays(runs("sh -c true", "c5"), step("Done."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_once")
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        await editor.prompt(session)
        assert asked(editor) == ["c5"]
