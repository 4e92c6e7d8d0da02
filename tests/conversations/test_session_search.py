"""Earlier sessions are found by the agent's own tool, and a failing index stops nothing."""

import sqlite3
from contextlib import closing

import pytest

from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import ShownSession
from tests.conversations.scripted_provider import call, step

pytestmark = pytest.mark.anyio


async def test_the_tool_finds_text_in_other_sessions_and_never_its_own(scene: Scene) -> None:
    scene.provider.plays(
        step("The kettle is blue."),
        step(call("session_search", "c1", query="kettle blue"), call("session_search", "c2", query="***")),
        step("Blue."),
    )
    async with scene.editor() as editor:
        earlier = await editor.new_session(scene.project)
        await editor.prompt(earlier)
        later = await editor.new_session(scene.project)
        assert await editor.prompt(later) == "end_turn"
        found, refused = ShownSession(editor, later).cards.values()
        assert (found["status"], refused["status"]) == ("completed", "failed")
        text = found["rawOutput"]["text"]
        assert text.startswith(f"{earlier} #2 (agent, ")
        assert "The **kettle** is **blue**." in text
        assert later not in text
        assert "no word to search for" in refused["rawOutput"]["text"]


async def test_a_damaged_index_is_reported_in_the_next_turn(scene: Scene) -> None:
    scene.home.mkdir()
    (scene.home / "index.db").write_bytes(b"no database " * 400)
    scene.provider.plays(step("Here."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert (await editor.call("session/list", {}))["sessions"] == []
        assert await editor.prompt(session) == "end_turn"
        assert (await editor.call("session/list", {}))["sessions"][0]["sessionId"] == session
        assert "index.db.damaged-1" in str(ShownSession(editor, session).updates)


async def test_an_unusable_search_index_disables_only_the_search(scene: Scene) -> None:
    scene.home.mkdir()
    with closing(sqlite3.connect(scene.home / "search.db")) as connection, connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    scene.provider.plays(step("One."), step(call("session_search", "c1", query="one")), step("Two."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        assert await editor.prompt(session) == "end_turn"
        assert "newer hermes-acp" in str(ShownSession(editor, session).updates)
        assert len((await editor.call("session/list", {}))["sessions"]) == 1
