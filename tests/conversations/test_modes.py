"""The modes, and what no mode allows without approval."""

import anyio
import pytest

from hermes_acp.core.errors import ModelUnavailable
from hermes_protocol.errors import INVALID_PARAMS, NOT_FOUND
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import ShownSession, allow
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"


async def test_a_new_session_offers_four_modes_and_starts_in_ask(scene: Scene) -> None:
    async with scene.editor() as editor:
        answer = await editor.call("session/new", {"cwd": str(scene.project), "mcpServers": []})
    assert answer["modes"]["currentModeId"] == "ask"
    assert [mode["id"] for mode in answer["modes"]["availableModes"]] == [
        "ask",
        "accept_edits",
        "plan",
        "auto",
    ]


async def test_accept_edits_asks_only_about_commands(scene: Scene) -> None:
    scene.provider.plays(
        step(call("write_file", "c1", path="a", content="x"), call("terminal", "c2", command="sh -c true")),
        step("Done."),
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.set_mode(session, "accept_edits")
        assert await editor.prompt(session) == "end_turn"
        assert [ask["toolCall"]["toolCallId"] for ask in editor.asks(ASK)] == ["c2"]
        assert ShownSession(editor, session).of("current_mode_update")[0]["currentModeId"] == "accept_edits"
    assert (scene.project / "a").read_text() == "x"


async def test_plan_mode_changes_nothing_and_says_so(scene: Scene) -> None:
    scene.write("a.txt", "one\n")
    scene.provider.plays(
        step(
            call("read_file", "c1", path="a.txt"),
            call("write_file", "c2", path="a.txt", content="x"),
            call("terminal", "c3", command="touch b"),
        ),
        step("Then I only plan."),
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.set_mode(session, "plan")
        await editor.prompt(session)
        assert editor.asks(ASK) == []
        cards = ShownSession(editor, session).cards
    assert [card["status"] for card in cards.values()] == ["completed", "failed", "failed"]
    assert (scene.project / "a.txt").read_text() == "one\n"
    assert not (scene.project / "b").exists()
    assert "plan mode" in plain_history(scene.provider.requests[1])[-1]


PROTECTED = (".git/hooks/x", "AGENTS.md", ".vscode/tasks.json", "sub/.GIT/config", ".github/workflows/ci.yml")


@pytest.mark.parametrize("name", PROTECTED)
async def test_protected_paths_need_approval_in_every_mode_and_each_time(scene: Scene, name: str) -> None:
    scene.provider.plays(
        step(call("write_file", "c1", path=name, content="x")),
        step(call("write_file", "c2", path=name, content="y")),
        step("Done."),
    )
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_always")
        session = await editor.new_session(scene.project)
        await editor.set_mode(session, "accept_edits")
        await editor.prompt(session)
        assert [ask["toolCall"]["toolCallId"] for ask in editor.asks(ASK)] == ["c1", "c2"]


async def test_a_protected_path_through_a_link_is_still_protected(scene: Scene) -> None:
    scene.write(".git/hooks/pre-commit", "old\n")
    (scene.project / "notes").symlink_to(scene.project / ".git" / "hooks")
    scene.provider.plays(
        step(
            call("read_file", "c0", path="notes/pre-commit"),
            call("write_file", "c1", path="notes/pre-commit", content="x"),
        ),
        step("Not then."),
    )
    async with scene.editor() as editor:
        editor.on[ASK] = allow("reject_once")
        session = await editor.new_session(scene.project)
        await editor.set_mode(session, "accept_edits")
        await editor.prompt(session)
        assert len(editor.asks(ASK)) == 1
    assert (scene.project / ".git/hooks/pre-commit").read_text() == "old\n"


async def test_the_agents_own_home_cannot_be_touched(scene: Scene) -> None:
    scene.variables["HERMES_HOME"] = str(scene.project / "link")
    (scene.project / "real").mkdir()
    (scene.project / "link").symlink_to(scene.project / "real")
    scene.provider.plays(
        step(
            call("write_file", "c1", path="link/config.yaml", content="mode: auto\n"),
            call("write_file", "c2", path="real/config.yaml", content="mode: auto\n"),
            call("read_file", "c3", path="real/.env"),
        ),
        step("Not then."),
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert editor.asks(ASK) == []
        assert [card["status"] for card in ShownSession(editor, session).cards.values()] == ["failed"] * 3
    assert not (scene.project / "real/config.yaml").exists()


async def test_an_unknown_mode_is_rejected_and_nothing_changes(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        for mode in ("yolo", "bypass", "", "ASK"):
            error = await editor.refusal("session/set_mode", {"sessionId": session, "modeId": mode})
            assert (error.code, error.data) == (INVALID_PARAMS, {"code": "bad_request"})
        error = await editor.refusal("session/set_mode", {"sessionId": "ses_none", "modeId": "ask"})
        assert error.code == NOT_FOUND
        assert ShownSession(editor, session).of("current_mode_update") == []


async def test_a_mode_change_is_reported_again_if_the_turn_that_reported_it_failed(scene: Scene) -> None:
    scene.provider.plays(step(ModelUnavailable("No such host.")), step("I only plan."), step("Still."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.set_mode(session, "plan")
        await editor.prompt_refusal(session, "the first")
        await editor.prompt(session, "the second")
        await editor.prompt(session, "the third")
    notes = ["Mode is now plan" in line for line in plain_history(scene.provider.requests[2])]
    assert notes.count(True) == 1


async def test_the_mode_can_change_while_a_question_is_open(scene: Scene) -> None:
    scene.provider.plays(
        step(
            call("write_file", "c1", path="a", content="x"), call("write_file", "c2", path="b", content="x")
        ),
        step("Done."),
    )
    answered = anyio.Event()

    async def when_told(params: Json) -> Json:
        await answered.wait()
        return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}

    async with scene.editor() as editor:
        editor.on[ASK] = when_told
        session = await editor.new_session(scene.project)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(editor.prompt, session)
            await editor.until(lambda: editor.asks(ASK))
            await editor.set_mode(session, "plan")
            answered.set()
        cards = ShownSession(editor, session).cards
    assert [card["status"] for card in cards.values()] == ["completed", "failed"]
    assert (scene.project / "a").exists()
    assert not (scene.project / "b").exists()
    assert len(editor.asks(ASK)) == 1


async def test_the_default_mode_in_the_settings_applies_at_once(scene: Scene) -> None:
    scene.home.mkdir()
    (scene.home / "config.yaml").write_text("mode: accept_edits\n")
    async with scene.editor() as editor:
        answer = await editor.call("session/new", {"cwd": str(scene.project), "mcpServers": []})
    assert answer["modes"]["currentModeId"] == "accept_edits"


@pytest.mark.parametrize("line", ["mode: bypass", "mode: yolo", "nonsense: 1"])
async def test_invalid_settings_are_reported_when_a_session_is_opened(scene: Scene, line: str) -> None:
    scene.home.mkdir()
    (scene.home / "config.yaml").write_text(f"{line}\n")
    async with scene.editor() as editor:
        error = await editor.refusal("session/new", {"cwd": str(scene.project), "mcpServers": []})
    assert error.data == {"code": "bad_config"}
    assert "config.yaml" in error.message
    assert line.partition(":")[0] in error.message


async def test_a_session_whose_process_was_killed_at_its_creation_has_the_default_mode(scene: Scene) -> None:
    scene.configure("mode: plan\n")
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.call("session/close", {"sessionId": session})
    (record,) = scene.home.glob("sessions/*.jsonl")
    opened, *_ = record.read_bytes().splitlines(keepends=True)
    record.write_bytes(opened)
    app = scene.open_app()  # Does not warm up, so nothing else reads the settings first.
    loaded, _ = await app.sessions.load(session, None, lambda _, cwd, roots: app.open_workspace(cwd, roots))
    assert loaded.record.mode == "plan"
    await app.sessions.close(session)
