"""The texts of a large edit are sent once, or as hunks to clients that accept these; small edits are sent as usual."""

import json
from pathlib import Path

import pytest

from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import call, step
from tests.conversations.test_partial_edits import answers
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"
LINES = [f"line {number} of a long text" for number in range(1000)]
BEFORE = "\n".join((*LINES, ""))
AFTER = BEFORE.replace("line 70 ", "row 70 ").replace("line 900 ", "row 900 ")
ONE = "line 900 of a long text"


def plays_an_edit(scene: Scene) -> Path:
    path = scene.project / "a.txt"
    path.write_text(BEFORE)
    edits = [{"old_text": f"line {number} ", "new_text": f"row {number} "} for number in (70, 900)]
    scene.provider.plays(
        step(call("read_file", "c0", path="a.txt", limit=1)),
        step(call("edit_file", "c1", path="a.txt", edits=edits)),
        step("I see."),
    )
    return path


def sent_diffs(editor: FakeEditor, session: str) -> list[Json]:
    """Return each diff that the editor was sent, in any message."""
    cards = [update for name, update in editor.updates if name == session and "toolCallId" in update]
    cards += [params["toolCall"] for params in editor.asks(ASK)]
    return [part for card in cards for part in card.get("content", []) if part["type"] == "diff"]


async def test_the_texts_of_a_large_edit_are_sent_once_with_its_question(scene: Scene) -> None:
    plays_an_edit(scene)
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        (diff,) = sent_diffs(editor, session)
        assert (diff["oldText"], diff["newText"]) == (BEFORE, AFTER)
        assert editor.asks(ASK)[0]["toolCall"]["content"][0] == diff
        assert "content" not in ShownSession(editor, session).of("tool_call_update")[-1]


async def test_the_texts_of_a_large_edit_without_a_question_are_sent_once_at_its_end(scene: Scene) -> None:
    plays_an_edit(scene)
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.set_mode(session, "accept_edits")
        await editor.prompt(session)
        (diff,) = sent_diffs(editor, session)
        assert ShownSession(editor, session).cards["c1"]["content"] == [diff]
        since = len(editor.updates)
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        assert ShownSession(editor, session, since).cards["c1"]["content"] == [diff]


async def test_a_long_written_text_is_not_repeated_as_an_argument(scene: Scene) -> None:
    scene.provider.plays(step(call("write_file", "c1", path="a.txt", content=BEFORE)), step("I see."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        said = json.dumps([editor.updates, editor.asked])
    assert said.count("line 934 of") == 1
    assert (scene.project / "a.txt").read_text() == BEFORE


async def test_hunks_are_sent_to_clients_that_accept_them_and_can_be_accepted_in_part(scene: Scene) -> None:
    path = plays_an_edit(scene)
    async with scene.editor(_meta={"hermes": {"edits": True, "diffHunks": True}}) as editor:
        session = await editor.new_session(scene.project)
        change = {"start": 71, "count": 1, "lines": ["ROW 70"]}
        edit = {"path": str(path), "changes": [change], "rejected": ["the second"]}
        editor.on[ASK] = answers("allow_once", edits=[edit])
        await editor.prompt(session)
        (asked,) = editor.asks(ASK)[0]["toolCall"]["content"][:1]
        assert (asked["oldText"], asked["newText"]) == ("", "")
        first, second = asked["_meta"]["hermes"]["hunks"]
        assert (first["oldStart"], first["oldLines"]) == (71, [LINES[70]])
        assert (second["newStart"], second["newLines"]) == (901, ["row 900 of a long text"])
        assert first["before"] == LINES[67:70]
        assert len(json.dumps(sent_diffs(editor, session))) < 4000
    assert path.read_text() == BEFORE.replace(LINES[70], "ROW 70")


async def test_changes_that_do_not_match_are_not_an_approval(scene: Scene) -> None:
    path = plays_an_edit(scene)
    async with scene.editor(_meta={"hermes": {"edits": True, "diffHunks": True}}) as editor:
        session = await editor.new_session(scene.project)
        change = {"start": 9999, "count": 1, "lines": ["x"]}
        editor.on[ASK] = answers("allow_once", edits=[{"path": str(path), "changes": [change]}])
        await editor.prompt(session)
    assert path.read_text() == BEFORE
