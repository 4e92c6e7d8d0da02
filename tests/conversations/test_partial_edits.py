"""Edits that a user accepts in part, and comments that accompany an answer."""

from typing import Any

import pytest

from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import Answerer, FakeEditor, ShownSession
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"
BEFORE = "one\ntwo\nthree\n"
PROPOSED = "ONE\ntwo\nTHREE\n"
TAKEN = "ONE\ntwo\nthree\n"
LEFT_OUT = "1 line at line 3 replaced by 1:\n-three\n+THREE"


def answers(option: str, **hermes: Any) -> Answerer:
    outcome = {"outcome": "selected", "optionId": option}

    def answer(params: Json) -> Json:
        return {"outcome": outcome, "_meta": {"hermes": hermes}}

    return answer


def plays_an_edit(scene: Scene) -> str:
    path = scene.project / "a.txt"
    path.write_text(BEFORE)
    scene.provider.plays(
        step(call("read_file", "c0", path="a.txt")),
        step(call("write_file", "c1", path="a.txt", content=PROPOSED)),
        step("I see."),
    )
    return str(path)


async def prompted(scene: Scene, editor: FakeEditor) -> Json:
    """Prompt, and return the card of the edit as the editor finally shows it."""
    session = await editor.new_session(scene.project)
    await editor.prompt(session)
    return ShownSession(editor, session).cards["c1"]


async def test_a_part_is_written_and_the_model_is_told_what_was_omitted(scene: Scene) -> None:
    path = plays_an_edit(scene)
    async with scene.editor() as editor:
        edit = {"path": path, "newText": TAKEN, "rejected": [LEFT_OUT]}
        editor.on[ASK] = answers("allow_once", edits=[edit], comment="keep the last line")
        card = await prompted(scene, editor)
    assert (scene.project / "a.txt").read_text() == TAKEN
    assert card["status"] == "completed"
    assert [part["newText"] for part in card["content"] if part["type"] == "diff"] == [TAKEN]
    reported = card["rawOutput"]["text"]
    assert "only a part" in reported
    assert f"Left out in a.txt:\n{LEFT_OUT}" in reported
    assert "The user says: keep the last line" in reported


async def test_a_text_the_user_changed_is_written_as_they_changed_it(scene: Scene) -> None:
    path = plays_an_edit(scene)
    async with scene.editor() as editor:
        editor.on[ASK] = answers("allow_once", edits=[{"path": path, "newText": PROPOSED + "four\n"}])
        card = await prompted(scene, editor)
    assert (scene.project / "a.txt").read_text() == PROPOSED + "four\n"
    assert "changed this edit before they accepted it" in card["rawOutput"]["text"]


async def test_the_reason_for_a_rejection_reaches_the_model(scene: Scene) -> None:
    plays_an_edit(scene)
    async with scene.editor() as editor:
        editor.on[ASK] = answers("reject_once", comment="use lower case")
        card = await prompted(scene, editor)
    assert (scene.project / "a.txt").read_text() == BEFORE
    assert card["rawOutput"]["text"].endswith("The user says: use lower case")


async def test_a_rejection_is_reported_with_its_reason_live_and_later(scene: Scene) -> None:
    plays_an_edit(scene)
    async with scene.editor() as editor:
        editor.on[ASK] = answers("reject_once", comment="use lower case")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        live = ShownSession(editor, session).cards
    async with scene.editor() as editor:
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        later = ShownSession(editor, session).cards
    for cards in (live, later):
        assert cards["c1"]["_meta"] == {"hermes": {"rejected": {"comment": "use lower case"}}}
        assert "_meta" not in cards["c0"]


async def test_a_closed_question_is_not_a_rejection(scene: Scene) -> None:
    plays_an_edit(scene)
    async with scene.editor() as editor:
        editor.on[ASK] = lambda _: {"outcome": {"outcome": "cancelled"}}
        card = await prompted(scene, editor)
    assert card["status"] == "failed"
    assert "_meta" not in card


async def test_a_comment_alone_does_not_change_the_edit(scene: Scene) -> None:
    plays_an_edit(scene)
    async with scene.editor() as editor:
        editor.on[ASK] = answers("allow_once", comment="fine")
        card = await prompted(scene, editor)
    assert (scene.project / "a.txt").read_text() == PROPOSED
    assert card["rawOutput"]["text"].endswith("The user says: fine")


async def test_only_the_file_that_was_shown_is_ever_written(scene: Scene) -> None:
    plays_an_edit(scene)
    other = scene.project / "b.txt"
    async with scene.editor() as editor:
        editor.on[ASK] = answers("allow_once", edits=[{"path": str(other), "newText": "mine\n"}])
        card = await prompted(scene, editor)
    assert not other.exists()
    assert (scene.project / "a.txt").read_text() == BEFORE
    assert card["status"] == "failed"


async def test_a_text_that_changes_nothing_writes_nothing(scene: Scene) -> None:
    path = plays_an_edit(scene)
    async with scene.editor() as editor:
        editor.on[ASK] = answers("allow_once", edits=[{"path": path, "newText": BEFORE}])
        card = await prompted(scene, editor)
    assert card["status"] == "failed"
    assert "accepted no part of this edit" in card["rawOutput"]["text"]


@pytest.mark.parametrize("hermes", [{"edits": "all"}, {"edits": [{"path": 1}]}, {"comment": 3}, {}])
async def test_fields_that_cannot_be_understood_are_ignored(scene: Scene, hermes: Json) -> None:
    plays_an_edit(scene)
    async with scene.editor() as editor:
        editor.on[ASK] = answers("allow_once", **hermes)
        card = await prompted(scene, editor)
    assert (scene.project / "a.txt").read_text() == PROPOSED
    assert card["status"] == "completed"


async def test_only_a_client_with_its_own_extensions_is_told_about_ours(scene: Scene) -> None:
    async with scene.editor() as editor:
        plain = await editor.initialize()
        assert "_meta" not in plain["agentCapabilities"]
        reported = await editor.initialize(_meta={"hermes": {"edits": True}})
        assert reported["agentCapabilities"]["_meta"]["hermes"]["edits"] is True


async def test_a_rejected_new_file_is_not_created(scene: Scene) -> None:
    (scene.project / "a.txt").write_text(BEFORE)
    patch = (
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n*** Add File: b.txt\n+new\n*** End Patch\n"
    )
    scene.provider.plays(
        step(call("read_file", "c0", path="a.txt")),
        step(call("apply_patch", "c1", patch=patch)),
        step("I see."),
    )
    async with scene.editor() as editor:
        left_out = {"path": str(scene.project / "b.txt"), "newText": "", "rejected": ["1 line added"]}
        editor.on[ASK] = answers("allow_once", edits=[left_out])
        card = await prompted(scene, editor)
    assert card["status"] == "completed", card
    assert (scene.project / "a.txt").read_text() == "ONE\ntwo\nthree\n"
    assert not (scene.project / "b.txt").exists()
