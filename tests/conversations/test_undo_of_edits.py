"""Undoing turns that edit files: the named files are stored, and the whole folder only before a command."""

import json
import shutil
from pathlib import Path

import pytest

from hermes_acp.core.messages import ToolCall
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor, ShownSession, allow
from tests.conversations.scripted_provider import call, step

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(shutil.which("git") is None, reason="needs git"),
]


@pytest.fixture
def checkpointed(scene: Scene) -> Scene:
    """Enable checkpoints of turns."""
    scene.overrides["checkpoints.enabled"] = True
    return scene


def write(name: str, content: str) -> ToolCall:
    return call("write_file", f"w-{name}-{content}", path=name, content=content)


def command(text: str) -> ToolCall:
    return call("terminal", f"t-{text}", command=text)


async def turn(scene: Scene, editor: FakeEditor, session: str, *calls: ToolCall) -> None:
    """Make calls in a turn, each in its own step."""
    scene.provider.plays(*(step(each) for each in calls), step("Done."))
    await editor.prompt(session, "go on")


def texts_of(scene: Scene) -> dict[str, str]:
    found = (path for path in scene.project.rglob("*") if path.is_file())
    return {str(path.relative_to(scene.project)): path.read_text() for path in found}


def is_whole(scene: Scene) -> list[bool]:
    """Return for each checkpoint whether it contains the whole folder."""
    records = [
        json.loads(path.read_text()) for path in sorted((scene.home / "checkpoints").glob("turns/*/*"))
    ]
    return [place["files_before"] is None for record in records for place in record["places"]]


def indexes(scene: Scene) -> list[Path]:
    """Return the index files of shadow repositories, which only a snapshot of a whole folder writes."""
    return list((scene.home / "checkpoints").glob("*/index"))


async def test_a_turn_that_edits_stores_only_the_edited_files(checkpointed: Scene) -> None:
    scene = checkpointed
    scene.write("a.txt", "one")
    scene.write("beside.txt", "beside")
    before = texts_of(scene)
    async with scene.editor() as editor:
        editor.on["session/request_permission"] = allow("allow_once")
        session = await editor.new_session(scene.project)
        look = call("read_file", "r", path="a.txt")
        await turn(scene, editor, session, look, write("a.txt", "two"), write("deep/new.txt", "new"))
        assert (is_whole(scene), indexes(scene)) == ([False], [])
        scene.write("beside.txt", "by hand")
        await editor.prompt(session, "/undo")
        assert texts_of(scene) == {**before, "beside.txt": "by hand"}
        assert not (scene.project / "deep").exists()
        await editor.prompt(session, "/redo")
        assert texts_of(scene) == {"a.txt": "two", "deep/new.txt": "new", "beside.txt": "by hand"}
        assert (is_whole(scene), indexes(scene)) == ([False] * 3, [])


@pytest.mark.parametrize("edits_first", [True, False])
async def test_a_turn_that_edits_and_runs_a_command_stores_both(
    checkpointed: Scene, edits_first: bool
) -> None:
    scene = checkpointed
    for name in ("a.txt", "b.txt", "c.txt"):
        scene.write(name, "one")
    before = texts_of(scene)
    edits = [call("read_file", "r", path="a.txt"), write("a.txt", "two"), write("new.txt", "new")]
    commands = [command("echo two > b.txt; rm c.txt; echo more >> a.txt")]
    async with scene.editor() as editor:
        editor.on["session/request_permission"] = allow("allow_once")
        session = await editor.new_session(scene.project)
        await turn(scene, editor, session, *(edits + commands if edits_first else commands + edits))
        assert is_whole(scene) == [True]
        after = texts_of(scene)
        assert after.keys() == {"a.txt", "b.txt", "new.txt"}
        await editor.prompt(session, "/undo")
        assert texts_of(scene) == before
        await editor.prompt(session, "/redo")
        assert texts_of(scene) == after


async def test_if_a_folder_cannot_be_stored_completely_edits_can_still_be_undone(checkpointed: Scene) -> None:
    scene = checkpointed
    scene.write("a.txt", "one")
    scene.write("b.txt", "one")
    before = texts_of(scene)
    async with scene.editor() as editor:
        editor.on["session/request_permission"] = allow("allow_once")
        session = await editor.new_session(scene.project)
        shadows = scene.home / "checkpoints"
        await turn(scene, editor, session, write("made.txt", "made"))
        (shadow,) = shadows.glob("*/HEAD")
        (shadow.parent / "index").mkdir()  # No snapshot can be taken.
        calls = (command("echo two > b.txt; rm a.txt"), write("new.txt", "new"))
        await turn(scene, editor, session, *calls, command("name=c; true > $name.txt"))
        thoughts = "".join(
            update["content"]["text"]
            for _, update in editor.updates
            if update["sessionUpdate"] == "agent_thought_chunk"
        )
        assert thoughts.count("not available") == 1, "it is said once"
        await editor.prompt(session, "/undo")
        assert "Undid 1 turn" in ShownSession(editor, session).text
        assert texts_of(scene) == {**before, "made.txt": "made", "c.txt": ""}
