"""Permission questions, and every possible answer."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest

from hermes_protocol.errors import INTERNAL_ERROR, PeerError
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import FakeEditor, ShownSession, allow
from tests.conversations.scripted_provider import Step, call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"


def writes(name: str, call_id: str) -> Step:
    read = call("read_file", f"{call_id}-read", path=name)
    return step(read, call("write_file", call_id, path=name, content="new\n"))


async def test_a_call_allowed_once_needs_approval_again(scene: Scene) -> None:
    scene.provider.plays(writes("a", "c1"), step("Done."), writes("a", "c2"), step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        (scene.project / "a").write_text("other\n")
        await editor.prompt(session)
        assert [ask["toolCall"]["toolCallId"] for ask in editor.asks(ASK)] == ["c1", "c2"]


async def test_always_applies_to_that_path_only(scene: Scene) -> None:
    scene.provider.plays(writes("a", "c1"), writes("a", "c2"), writes("b", "c3"), step("Done."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_always")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert [ask["toolCall"]["toolCallId"] for ask in editor.asks(ASK)] == ["c1", "c3"]


async def test_always_applies_to_that_command_in_that_folder_only(scene: Scene) -> None:
    (scene.project / "sub").mkdir()
    scene.provider.plays(
        step(call("terminal", "c1", command="sh -c true")),
        step(call("terminal", "c2", command="sh -c true")),
        step(call("terminal", "c3", command="sh -c true", cwd="sub")),
        step(call("terminal", "c4", command="sh -c true; sh -c true")),
        step("Done."),
    )
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_always")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert [ask["toolCall"]["toolCallId"] for ask in editor.asks(ASK)] == ["c1", "c3", "c4"]


async def test_always_survives_a_restart_and_ends_with_the_session(scene: Scene) -> None:
    scene.provider.plays(
        writes("a", "c1"), step("Done."), writes("a", "c2"), step("Done."), writes("a", "c3"), step("Done.")
    )
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_always")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
    async with scene.editor() as editor:
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        await editor.prompt(session)
        assert editor.asks(ASK) == []
        await editor.prompt(await editor.new_session(scene.project))
        assert [ask["toolCall"]["toolCallId"] for ask in editor.asks(ASK)] == ["c3"]


async def test_a_permanent_rejection_is_not_asked_again(scene: Scene) -> None:
    scene.provider.plays(writes("a", "c1"), writes("a", "c2"), step("I see."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("reject_always")
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        assert [ask["toolCall"]["toolCallId"] for ask in editor.asks(ASK)] == ["c1"]
        cards = ShownSession(editor, session).cards
        assert [cards[each]["status"] for each in ("c1", "c2")] == ["failed", "failed"]
        assert cards["c1"]["rawOutput"]["text"] == "The user refused this.", "advice is only for the model"
    assert not (scene.project / "a").exists()
    assert plain_history(scene.provider.requests[1])[-1] == (
        "write_file: The user refused this. Ask what they want instead, or continue without it."
    )


def raises(params: Json) -> Json:
    raise PeerError(INTERNAL_ERROR, "the dialog crashed")


NOT_A_YES: dict[str, Callable[[Json], Any]] = {
    "rejected once": allow("reject_once"),
    "cancelled": lambda params: {"outcome": {"outcome": "cancelled"}},
    "an option never offered": allow("yes"),
    "an option's name in another case": allow("ALLOW_ONCE"),
    "an error": raises,
    "null": lambda params: None,
    "a bare string": lambda params: "allow_once",
    "an outcome of another shape": lambda params: {"outcome": "selected", "optionId": "allow_once"},
    "an option that is no string": lambda params: {"outcome": {"outcome": "selected", "optionId": 1}},
}


@pytest.mark.parametrize("name", NOT_A_YES)
async def test_anything_but_a_clear_approval_is_a_rejection(scene: Scene, name: str) -> None:
    scene.provider.plays(writes("a", "c1"), step("Then not."))
    async with scene.editor() as editor:
        editor.on[ASK] = NOT_A_YES[name]
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        assert ShownSession(editor, session).statuses("c1") == ["pending", "failed"]
    assert not (scene.project / "a").exists()
    outcome = plain_history(scene.provider.requests[1])[-1]
    assert outcome.startswith(("write_file: The user refused this.", "write_file: Not run:"))


async def test_an_editor_that_disconnects_while_asked_approves_nothing(scene: Scene) -> None:
    scene.provider.plays(writes("a", "c1"))
    async with scene.editor() as editor:
        editor.on[ASK] = for_ever
        session = await editor.new_session(scene.project)
        prompt = {"sessionId": session, "prompt": [{"type": "text", "text": "go"}]}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(give_up_on, editor, prompt)
            await editor.until(lambda: editor.asks(ASK))
            await editor.connection.aclose()
    assert not (scene.project / "a").exists()
    async with scene.editor() as editor:
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        assert ShownSession(editor, session).cards["c1"]["status"] == "failed"


def for_ever(params: Json) -> Awaitable[None]:
    return anyio.sleep_forever()


async def give_up_on(editor: FakeEditor, prompt: Json) -> None:
    with pytest.raises(Exception, match="session/prompt"):
        await editor.call("session/prompt", prompt)


async def test_the_question_shows_the_cards_own_id_and_its_diff_or_command(scene: Scene) -> None:
    scene.provider.plays(
        step(call("write_file", "c1", path="a", content="x"), call("terminal", "c2", command="sh -c true")),
        step("Done."),
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        reported = ShownSession(editor, session)
        edit, command = (ask["toolCall"] for ask in editor.asks(ASK))
    assert [edit["toolCallId"], command["toolCallId"]] == list(reported.cards) == ["c1", "c2"]
    assert edit["content"][:1] == reported.of("tool_call")[0]["content"]
    assert edit["content"][0]["newText"] == "x"
    assert edit["content"][1]["content"]["text"] == "Asked because a would change."
    assert "true" in command["content"][0]["content"]["text"]
    offered = [(option["kind"], option["name"]) for option in editor.asks(ASK)[0]["options"]]
    assert offered == [
        ("allow_once", "Allow once"),
        ("allow_always", "Allow changes to a for this session"),
        ("allow_always", "Always allow changes to a in this folder"),
        ("reject_once", "Reject"),
        ("reject_always", "Reject changes to a for this session"),
    ]
    assert "`sh -c true`" in editor.asks(ASK)[1]["options"][2]["name"]


@pytest.mark.parametrize("arguments", [("write_file", ".git/config"), ("read_file", ".env")])
async def test_always_is_not_offered_where_it_would_not_be_remembered(
    scene: Scene, arguments: tuple[str, str]
) -> None:
    tool, path = arguments
    scene.write(".env", "KEY=x\n")
    content = {"content": "x"} if tool == "write_file" else {}
    scene.provider.plays(step(call(tool, "c1", path=path, **content)), step("Done."))
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
        kinds = [option["kind"] for option in editor.asks(ASK)[0]["options"]]
    assert kinds == ["allow_once", "reject_once"]


async def test_the_diff_is_relative_to_the_sessions_own_folder(scene: Scene) -> None:
    folders = [scene.project / "one", scene.project / "two"]
    for folder in folders:
        folder.mkdir()
        (folder / "a.txt").write_text(f"I am {folder.name}\n")
    scene.provider.answer = lambda request: (
        step("Done.")
        if len(request.messages) > 1
        else step(
            call("read_file", "c1", path="a.txt"),
            call("edit_file", "c2", path="a.txt", old_text="I am", new_text="You are"),
        )
    )
    async with scene.editor() as editor:
        sessions = [await editor.new_session(folder) for folder in folders]
        async with anyio.create_task_group() as tasks:
            for session in sessions:
                tasks.start_soon(editor.prompt, session)
        by_session = {ask["sessionId"]: ask["toolCall"]["content"][0] for ask in editor.asks(ASK)}
    for session, folder in zip(sessions, folders, strict=True):
        assert by_session[session]["path"] == str(folder / "a.txt")
        assert by_session[session]["oldText"] == f"I am {folder.name}\n"
        assert (folder / "a.txt").read_text() == f"You are {folder.name}\n"


async def test_a_file_that_changed_while_the_user_decided_is_not_overwritten(scene: Scene) -> None:
    path = scene.write("a.txt", "one\n")
    scene.provider.plays(
        step(
            call("read_file", "c0", path="a.txt"),
            call("edit_file", "c1", path="a.txt", old_text="one", new_text="two"),
        ),
        step("Again?"),
    )

    def change_it_first(params: Json) -> Json:
        path.write_text("one, and more\n")
        return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}

    async with scene.editor() as editor:
        editor.on[ASK] = change_it_first
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert ShownSession(editor, session).cards["c1"]["status"] == "failed"
    assert path.read_text() == "one, and more\n"


async def test_a_file_with_secrets_is_not_read_without_approval(scene: Scene) -> None:
    scene.write(".env", "KEY=hunter2\n")
    scene.provider.plays(step(call("read_file", "c1", path=".env")), step("Then not."))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("reject_once")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert len(editor.asks(ASK)) == 1
    assert "hunter2" not in "".join(plain_history(scene.provider.requests[1]))


async def test_a_question_contains_the_whole_text_that_will_run(scene: Scene) -> None:
    command = "printf 'one\\n'\n# \u202etxt.tset\nrm -rf build"
    code = "import shutil\n\nshutil.rmtree('build')\n"
    scene.provider.plays(
        step(call("terminal", "c1", command=command, timeout_s=9)),
        step(call("execute_code", "c2", code=code)),
        step("Done."),
    )
    async with scene.editor() as editor:
        editor.on[ASK] = allow("reject_once")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        ran, scripted = (ask["toolCall"] for ask in editor.asks(ASK))
    shown = "printf 'one\\n'\n# \\u202etxt.tset\nrm -rf build\ntimeout_s: 9"
    assert ran["_meta"]["hermes"]["approvalText"] == shown
    assert shown in ran["content"][0]["content"]["text"]
    assert code in scripted["content"][0]["content"]["text"]
    assert scripted["_meta"]["hermes"]["approvalText"].startswith(code)
    assert "python3 runs any code it is given" in json.dumps(scripted)
    assert "shell" not in json.dumps(scripted)


async def test_a_question_about_a_read_only_file_says_so_and_an_edit_keeps_its_mode(scene: Scene) -> None:
    scene.write("made.py", "x = 1\n")
    scene.write("plain.py", "x = 1\n")
    made = scene.project / "made.py"
    made.chmod(0o444)
    scene.provider.plays(
        step(call("read_file", "c1", path="made.py")),
        step(call("read_file", "c2", path="plain.py")),
        step(call("write_file", "c3", path="made.py", content="x = 2\n")),
        step(call("write_file", "c4", path="plain.py", content="x = 2\n")),
        step("Done."),
    )
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_once")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        read_only, ordinary = (json.dumps(ask["toolCall"].get("content", [])) for ask in editor.asks(ASK))
    assert "Asked because made.py is read-only (mode 0444)." in read_only
    assert "Asked because plain.py would change." in ordinary
    assert (made.read_text(), made.stat().st_mode & 0o777) == ("x = 2\n", 0o444)
