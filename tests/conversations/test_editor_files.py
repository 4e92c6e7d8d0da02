"""File access through the editor: unsaved changes, new files, and editors that answer incorrectly."""

from pathlib import Path
from typing import Any

import pytest

from hermes_protocol.errors import INTERNAL_ERROR, PeerError
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import ShownSession
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
BOTH = {"readTextFile": True, "writeTextFile": True}
ASK = "session/request_permission"


def refuse(params: Json) -> Json:
    raise PeerError(INTERNAL_ERROR, "no such file or not allowed")


async def test_without_the_capability_the_editor_is_never_asked(scene: Scene) -> None:
    scene.write("a.txt", "one\n")
    nothing: tuple[Json, ...] = (
        {},
        {"fs": {}},
        {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False},
    )
    for capabilities in nothing:
        scene.provider.plays(
            step(call("read_file", "c1", path="a.txt"), call("write_file", "c2", path="b.txt", content="x")),
            step(call("terminal", "c3", command="cat b.txt")),
            step("Done."),
        )
        async with scene.editor(**capabilities) as editor:
            session = await editor.new_session(scene.project)
            await editor.prompt(session)
            assert {method for method, _ in editor.asked} == {ASK}
        assert (scene.project / "b.txt").read_text() == "x"
        (scene.project / "b.txt").unlink()


async def test_only_the_announced_half_is_used(scene: Scene) -> None:
    scene.write("a.txt", "one\n")
    read = call("read_file", "c0", path="a.txt")
    edit = call("edit_file", "c1", path="a.txt", old_text="one", new_text="two")
    for half, method in (("readTextFile", "fs/read_text_file"), ("writeTextFile", "fs/write_text_file")):
        scene.provider.plays(step(read, edit), step("Done."))
        async with scene.editor(fs={half: True}) as editor:
            session = await editor.new_session(scene.project)
            await editor.prompt(session)
            assert {name for name, _ in editor.asked} == {ASK, method}
        assert (scene.project / "a.txt").read_text() == "two\n"
        scene.write("a.txt", "one\n")


async def test_unsaved_changes_take_precedence_when_reading_and_in_the_diff(scene: Scene) -> None:
    path = str(scene.write("a.txt", "on disk\n"))
    scene.provider.plays(
        step(call("read_file", "c1", path="a.txt")),
        step(call("edit_file", "c2", path="a.txt", old_text="unsaved", new_text="saved")),
        step("Done."),
    )
    async with scene.editor(fs=BOTH) as editor:
        editor.buffers[path] = "in the buffer, unsaved\n"
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        (question,) = editor.asks(ASK)
        diff, _ = question["toolCall"]["content"]
        assert (diff["oldText"], diff["newText"]) == ("in the buffer, unsaved\n", "in the buffer, saved\n")
        (written,) = editor.asks("fs/write_text_file")
        assert written == {"sessionId": session, "path": path, "content": "in the buffer, saved\n"}
        assert ShownSession(editor, session).cards["c2"]["status"] == "completed"
    assert "in the buffer" in plain_history(scene.provider.requests[1])[-1]


async def test_a_file_unknown_to_the_editor_is_a_new_file(scene: Scene) -> None:
    scene.provider.plays(step(call("write_file", "c1", path="new/a.txt", content="x\n")), step("Done."))

    def write(params: Json) -> Json:
        path = Path(params["path"])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(params["content"])
        return {}

    async with scene.editor(fs=BOTH) as editor:
        editor.on.update({"fs/read_text_file": refuse, "fs/write_text_file": write})
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        (question,) = editor.asks(ASK)
        assert question["toolCall"]["content"][0].get("oldText") is None
        assert ShownSession(editor, session).cards["c1"]["status"] == "completed"
    assert (scene.project / "new/a.txt").read_text() == "x\n"


async def test_a_write_that_the_editor_confirms_without_doing_it_is_done_on_disk(scene: Scene) -> None:
    scene.provider.plays(step(call("write_file", "c1", path="a.txt", content="x\n")), step("Done."))
    async with scene.editor(fs=BOTH) as editor:
        editor.on["fs/write_text_file"] = lambda params: {}
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert ShownSession(editor, session).cards["c1"]["status"] == "completed"
    assert (scene.project / "a.txt").read_text() == "x\n"


async def test_a_write_that_the_editor_rejects_is_not_done_on_disk(scene: Scene) -> None:
    scene.write("a.txt", "one\n")
    read, write = call("read_file", "c0", path="a.txt"), call("write_file", "c1", path="a.txt", content="x\n")
    scene.provider.plays(step(read, write), step("Then not."))
    async with scene.editor(fs=BOTH) as editor:
        editor.on["fs/write_text_file"] = refuse
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        assert ShownSession(editor, session).cards["c1"]["status"] == "failed"
    assert (scene.project / "a.txt").read_text() == "one\n"
    assert "not allowed" in plain_history(scene.provider.requests[1])[-1]


async def test_the_reason_for_a_rejection_is_read_from_the_error(scene: Scene) -> None:
    def give_up(params: Json) -> None:
        raise PeerError(INTERNAL_ERROR, "Internal error", {"details": "The disk is full."})

    scene.provider.plays(step(call("write_file", "c1", path="a.txt", content="x\n")), step("Then not."))
    async with scene.editor(fs=BOTH) as editor:
        editor.on["fs/write_text_file"] = give_up
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
    reported = plain_history(scene.provider.requests[1])[-1]
    assert "a.txt: The disk is full." in reported
    assert ".." not in reported


@pytest.mark.parametrize("answer", [None, "text", {"content": 1}, {"content": None}, []], ids=str)
async def test_a_malformed_answer_is_no_answer(scene: Scene, answer: Any) -> None:
    scene.write("a.txt", "from the disk\n")
    scene.provider.plays(step(call("read_file", "c1", path="a.txt")), step("Read."))
    async with scene.editor(fs=BOTH) as editor:
        editor.on["fs/read_text_file"] = lambda params: answer
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
    assert "from the disk" in plain_history(scene.provider.requests[1])[-1]


async def test_the_editor_is_not_asked_about_files_outside(scene: Scene, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("not yours\n")
    (scene.project / "link.txt").symlink_to(outside)
    scene.provider.plays(
        step(
            call("read_file", "c1", path=str(outside)),
            call("read_file", "c2", path="link.txt"),
            call("write_file", "c3", path="link.txt", content="x"),
        ),
        step("I see."),
    )
    async with scene.editor(fs=BOTH) as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert editor.asked == []
        assert {card["status"] for card in ShownSession(editor, session).cards.values()} == {"failed"}
    assert outside.read_text() == "not yours\n"


async def test_a_file_the_editor_cannot_provide_is_read_from_disk_and_never_overwritten(scene: Scene) -> None:
    scene.write("a.txt", "on disk\n")
    scene.provider.plays(
        step(
            call("read_file", "c1", path="a.txt"),
            call("edit_file", "c2", path="a.txt", old_text="disk", new_text="x"),
            call("write_file", "c3", path="a.txt", content="x"),
        ),
        step("Then not."),
    )
    async with scene.editor(fs={"readTextFile": True, "writeTextFile": True}) as editor:
        editor.on["fs/read_text_file"] = refuse
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        cards = ShownSession(editor, session).cards
    assert [card["status"] for card in cards.values()] == ["completed", "failed", "failed"]
    assert "may hold unsaved changes" in plain_history(scene.provider.requests[1])[-1]
    assert (scene.project / "a.txt").read_text() == "on disk\n"
