"""Turns that are undone by slash commands or an editor's buttons, and what the model is told about it."""

import shutil

import anyio
import pytest

from hermes_acp.core.messages import ToolCall
from hermes_protocol.errors import INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, NOT_FOUND
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import FakeEditor, ShownSession, allow
from tests.conversations.scripted_provider import Pause, call, step
from tests.conversations.wire_laws import Json

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]
HERMES: Json = {"_meta": {"hermes": {}}}


@pytest.fixture
def checkpointed(scene: Scene) -> Scene:
    """Enable checkpoints of turns."""
    scene.overrides["checkpoints.enabled"] = True
    return scene


async def write(scene: Scene, editor: FakeEditor, session: str, **files: str) -> None:
    """Write files in a turn."""
    calls = [
        call("write_file", f"w-{name}", path=f"{name}.txt", content=text) for name, text in files.items()
    ]
    scene.provider.plays(step(*calls), step("Written."))
    await editor.prompt(session, f"write {', '.join(files)}")


async def test_undo_and_redo_and_what_the_model_is_told(checkpointed: Scene) -> None:
    scene = checkpointed
    path = scene.project / "a.txt"
    async with scene.editor() as editor:
        editor.on["session/request_permission"] = allow("allow_once")
        session = await editor.new_session(scene.project)
        await write(scene, editor, session, a="one", b="beside")
        scene.provider.plays(step(call("read_file", "r", path="a.txt")), step("Read."))
        await editor.prompt(session, "look")
        await editor.prompt(session, "/undo")
        assert not path.exists()
        assert not (scene.project / "b.txt").exists()
        assert "Undid 1 turn (write a, b)" in ShownSession(editor, session).text
        scene.provider.plays(step("I see."))
        await editor.prompt(session, "and?")
        assert any(
            "undid" in line and str(path) in line for line in plain_history(scene.provider.requests[-1])
        )
        await editor.prompt(session, "/undo")
        assert "nothing to undo" in ShownSession(editor, session).text
        await editor.prompt(session, "/redo")
        assert path.read_text() == "one"
        await editor.prompt(session, "/redo")
        assert "no undo to revert" in ShownSession(editor, session).text
        path.write_text("mine")
        await editor.prompt(session, "/undo 1")
        assert f"{path}: it has been changed since" in ShownSession(editor, session).text
        assert (path.read_text(), (scene.project / "b.txt").read_text()) == ("mine", "beside")
        await editor.prompt(session, "/undo force")
        assert not path.exists()
        await editor.prompt(session, "/undo sideways")
        assert "/undo does not accept 'sideways'" in ShownSession(editor, session).text
    async with scene.editor() as editor:
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        await editor.prompt(session, "/redo")
        assert path.read_text() == "mine"


async def test_an_editor_lists_compares_and_restores(checkpointed: Scene) -> None:
    scene = checkpointed
    scene.write("a.txt", "before")
    async with scene.strange_editor() as editor:
        capabilities = (await editor.initialize(**HERMES))["agentCapabilities"]
        assert capabilities["_meta"]["hermes"]["checkpoints"] is True
        session = await editor.new_session(scene.project)
        path = str(scene.project / "a.txt")
        scene.provider.plays(
            step(call("read_file", "r", path="a.txt")),
            step(call("write_file", "w", path="a.txt", content="after")),
            step("Done."),
        )
        await editor.prompt(session, "change a")
        (listed,) = (await editor.call("_hermes/checkpoints/list", {"sessionId": session}))["checkpoints"]
        assert listed["files"] == [{"path": path, "change": "modified"}]
        assert (listed["title"], listed["isUndone"]) == ("change a", False)
        named = {"sessionId": session, "id": listed["id"]}
        diff = await editor.call("_hermes/checkpoints/diff", named)
        assert diff == {"files": [{"path": path, "oldText": "before", "newText": "after"}]}
        (scene.project / "a.txt").write_text("mine")
        refused = await editor.call("_hermes/checkpoints/restore", named)
        assert (refused["restored"], [each["path"] for each in refused["conflicts"]]) == ([], [path])
        done = await editor.call("_hermes/checkpoints/restore", {**named, "force": True, "paths": [path]})
        assert done["restored"] == [path]
        assert (scene.project / "a.txt").read_text() == "before"
        again = {"sessionId": session, "id": done["checkpointId"]}
        await editor.call("_hermes/checkpoints/restore", again)
        assert (scene.project / "a.txt").read_text() == "mine"
        everything = await editor.call(
            "_hermes/checkpoints/list", {"sessionId": session, "includeUndos": True}
        )
        assert [each["kind"] for each in everything["checkpoints"]] == ["turn", "undo", "undo"]


async def test_invalid_requests_are_rejected(checkpointed: Scene) -> None:
    async with checkpointed.editor() as editor:
        session = await editor.new_session(checkpointed.project)
        unknown = {"sessionId": "ses_none", "id": "cp_1"}
        assert (await editor.refusal("_hermes/checkpoints/list", {"sessionId": "ses_none"})).code == NOT_FOUND
        assert (await editor.refusal("_hermes/checkpoints/restore", unknown)).code == NOT_FOUND
        assert (await editor.refusal("_hermes/checkpoints/list", {})).code == INVALID_PARAMS
        assert (await editor.refusal("_hermes/checkpoints", {})).code == METHOD_NOT_FOUND
        missing = await editor.refusal("_hermes/checkpoints/diff", {**unknown, "sessionId": session})
        assert missing.code == INVALID_PARAMS
        pause = Pause()
        checkpointed.provider.plays(step(pause, "Done."))

        async def restore() -> None:
            await pause.reached.wait()
            busy = await editor.refusal("_hermes/checkpoints/restore", {**unknown, "sessionId": session})
            assert busy.code == INVALID_REQUEST
            pause.go.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(restore)
            await editor.prompt(session)


async def test_without_git_a_turn_continues_and_says_so_once(checkpointed: Scene) -> None:
    checkpointed.variables["PATH"] = str(checkpointed.home)
    async with checkpointed.editor() as editor:
        session = await editor.new_session(checkpointed.project)
        await write(checkpointed, editor, session, a="1")
        await write(checkpointed, editor, session, b="2")
        thoughts = "".join(
            update["content"]["text"]
            for _, update in editor.updates
            if update["sessionUpdate"] == "agent_thought_chunk"
        )
        assert thoughts.count("git is not installed") == 1
    assert (checkpointed.project / "b.txt").read_text() == "2"


async def test_the_draft_has_the_methods_too(draft: Scene) -> None:
    draft.overrides["checkpoints.enabled"] = True
    draft.schema = "v2"
    async with draft.strange_editor() as editor:
        info = {"name": "t", "version": "1"}
        params: Json = {"protocolVersion": 2, "info": info, "capabilities": HERMES}
        answer = await editor.call("initialize", params)
        assert answer["capabilities"]["_meta"]["hermes"]["checkpoints"] is True
        session = await editor.new_session(draft.project)
        assert await editor.call("_hermes/checkpoints/list", {"sessionId": session}) == {"checkpoints": []}


async def test_notes_of_an_undone_turn_are_undone_with_its_files(checkpointed: Scene) -> None:
    scene = checkpointed
    notes, path = scene.home / "memories" / "MEMORY.md", scene.project / "a.txt"

    def note(text: str) -> ToolCall:
        return call("memory", f"n-{text}", action="add", store="memory", text=text)

    async with scene.editor() as editor:
        editor.on["session/request_permission"] = allow("allow_once")
        session = await editor.new_session(scene.project)
        scene.provider.plays(step(note("Alpha.")), step("Noted."))
        await editor.prompt(session, "note")
        writes = call("write_file", "w", path="a.txt", content="one")
        scene.provider.plays(step(writes, note("Beta.")), step("Done."))
        await editor.prompt(session, "write and note")
        notes.write_text(notes.read_text() + "§\nBy Kim.\n")
        await editor.prompt(session, "/undo")
        reported = ShownSession(editor, session).text
        assert "Undid 1 turn (write and note); `/redo` reverts that." in reported
        assert "Notes reverted:\n- Beta." in reported
        assert notes.read_text() == "Alpha.\n§\nBy Kim.\n"
        assert not path.exists()
        scene.provider.plays(step("I see."))
        await editor.prompt(session, "and?")
        assert any("notes for later sessions" in line for line in plain_history(scene.provider.requests[-1]))
        await editor.prompt(session, "/undo")
        assert notes.read_text() == "By Kim.\n"
        await editor.prompt(session, "/redo")
        assert notes.read_text() == "By Kim.\n§\nAlpha.\n"
        assert not path.exists()
        await editor.prompt(session, "/redo")
        assert notes.read_text() == "By Kim.\n§\nAlpha.\n§\nBeta.\n"
        assert path.read_text() == "one"
        await editor.prompt(session, "/redo")
        assert ShownSession(editor, session).text.endswith("There is no undo to revert.")


async def test_a_rejected_undo_leaves_notes_unchanged(checkpointed: Scene) -> None:
    scene = checkpointed
    notes = scene.home / "memories" / "MEMORY.md"
    async with scene.editor() as editor:
        editor.on["session/request_permission"] = allow("allow_once")
        session = await editor.new_session(scene.project)
        writes = call("write_file", "w", path="a.txt", content="one")
        noted = call("memory", "n", action="add", store="memory", text="Beta.")
        scene.provider.plays(step(writes, noted), step("Done."))
        await editor.prompt(session, "write and note")
        (scene.project / "a.txt").write_text("by Kim")
        await editor.prompt(session, "/undo")
        assert notes.read_text() == "Beta.\n"
        await editor.prompt(session, "/undo force")
        assert not notes.read_text()
