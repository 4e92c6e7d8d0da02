"""The positions where turns of a loaded session ended, reported to editors that request them."""

import shutil

import pytest

from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
WANTED = {"_meta": {"hermes": {"turnEnds": True}}}


async def two_turns(scene: Scene, editor: FakeEditor) -> str:
    """Write a file in one turn and only answer in another; return their session."""
    scene.write("a.txt", "one\n")
    scene.provider.plays(
        step(call("read_file", "c0", path="a.txt")),
        step(call("write_file", "c1", path="a.txt", content="ONE\n")),
        step("Done."),
        step("And more."),
    )
    session = await editor.new_session(scene.project)
    await editor.call("session/set_mode", {"sessionId": session, "modeId": "accept_edits"})
    await editor.prompt(session)
    await editor.prompt(session, "and?")
    return session


async def loaded(editor: FakeEditor, scene: Scene, session: str) -> list[Json]:
    """Load a session, and return the updates sent with it."""
    before = len(editor.notified)
    await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
    updates = [params["update"] for method, params in editor.notified[before:] if method == "session/update"]
    return [each for each in updates if isinstance(each, dict)]


def end_of(update: Json) -> Json | None:
    return update.get("_meta", {}).get("hermes", {}).get("turnEnded")


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
async def test_each_end_is_reported_at_its_position_and_names_its_checkpoint(scene: Scene) -> None:
    scene.overrides["checkpoints.enabled"] = True
    async with scene.editor(**WANTED) as editor:
        session = await two_turns(scene, editor)
        assert not [params for _, params in editor.notified if "turnEnded" in str(params)]
        told = await loaded(editor, scene, session)
        ends = [end for each in told if (end := end_of(each))]
        assert [(each["reason"], each["text"]) for each in ends] == [("end_turn", ""), ("end_turn", "")]
        begins = [at for at, each in enumerate(told) if each["sessionUpdate"] == "user_message_chunk"]
        first, second = (at for at, each in enumerate(told) if end_of(each))
        assert begins[0] < first < begins[1] < second
        (checkpoint,) = (await editor.call("_hermes/checkpoints/list", {"sessionId": session}))["checkpoints"]
        assert checkpoint["turnId"] == ends[0]["turnId"]


async def test_other_clients_are_not_told_about_ends(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await two_turns(scene, editor)
        assert not [each for each in await loaded(editor, scene, session) if end_of(each)]
