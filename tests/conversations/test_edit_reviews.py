"""Edits that are written first and reviewed afterwards, with an editor's buttons."""

from pathlib import Path

import pytest

from hermes_acp.core.messages import CallFragment
from hermes_protocol.errors import INVALID_PARAMS, NOT_FOUND, PeerError
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.draft_editor import drafter, new_session, turn
from tests.conversations.fake_editor import FakeEditor
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
BEFORE = "one\ntwo\nthree\n"
AFTER = "ONE\ntwo\nTHREE\n"
LIST, JUDGE = "_hermes/edits/list", "_hermes/edits/judge"


async def written(scene: Scene, editor: FakeEditor) -> tuple[str, Path]:
    """Write a file in a turn without approval, and return the session and the file."""
    path = scene.write("a.txt", BEFORE)
    scene.provider.plays(
        step(call("read_file", "c0", path="a.txt")),
        step(call("write_file", "c1", path="a.txt", content=AFTER)),
        step("Done."),
    )
    session = await editor.new_session(scene.project)
    await editor.call("session/set_mode", {"sessionId": session, "modeId": "accept_edits"})
    await editor.prompt(session)
    assert path.read_text() == AFTER
    return session, path


async def listed(editor: FakeEditor, session: str, **more: object) -> Json:
    return await editor.call(LIST, {"sessionId": session, **more})


async def test_a_hunk_is_undone_and_the_model_is_told_once(scene: Scene) -> None:
    async with scene.editor() as editor:
        session, path = await written(scene, editor)
        (file,) = (await listed(editor, session))["files"]
        assert (file["path"], file["oldText"], file["newText"]) == (str(path), BEFORE, AFTER)
        assert [(hunk["oldLines"], hunk["newLines"]) for hunk in file["hunks"]] == [
            (["one"], ["ONE"]),
            (["three"], ["THREE"]),
        ]
        said = {"sessionId": session, "path": str(path), "revision": file["revision"]}
        assert await editor.call(JUDGE, {**said, "verdict": "rejected", "hunks": [1]}) == {"open": 1}
        assert path.read_text() == "ONE\ntwo\nthree\n"
        assert await editor.call(JUDGE, {"sessionId": session, "verdict": "accepted"}) == {"open": 0}
        assert path.read_text() == "ONE\ntwo\nthree\n"
        judged = (await listed(editor, session, includeJudged=True))["judged"]
        assert [(each["verdict"], each["hunks"]) for each in judged] == [("rejected", 1), ("accepted", 1)]
        scene.provider.plays(step("I see."), step("Yes."))
        await editor.prompt(session, "and?")
        (told,) = [
            line for line in plain_history(scene.provider.requests[-1]) if "rejected these parts" in line
        ]
        assert "In a.txt, at line 3:\n-three\n+THREE" in told
        await editor.prompt(session, "again")
        history = plain_history(scene.provider.requests[-1])
        assert len([line for line in history if "rejected these parts" in line]) == 1


async def test_every_client_that_shows_edits_is_told_about_a_decision(scene: Scene) -> None:
    async def heard(**capabilities: object) -> list[Json]:
        async with scene.editor(**capabilities) as editor:
            session, path = await written(scene, editor)
            said = {"sessionId": session, "path": str(path)}
            await editor.call(JUDGE, {**said, "verdict": "rejected", "hunks": [1]})
            await editor.call(JUDGE, {**said, "verdict": "accepted"})
            notices = [params for method, params in editor.notified if method == "_hermes/edits/judged"]
            assert all(params["path"] == str(path) for params in notices)
            await editor.call(
                "session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []}
            )
            assert len([each for each, _ in editor.notified if each == "_hermes/edits/judged"]) == len(
                notices
            )
            return notices

    assert [each["open"] for each in await heard(_meta={"hermes": {"edits": True}})] == [1, 0]
    assert await heard() == []


async def test_a_review_survives_the_agent_process(scene: Scene) -> None:
    async with scene.editor() as editor:
        session, path = await written(scene, editor)
        said = {"sessionId": session, "path": str(path), "verdict": "rejected", "hunks": [0]}
        await editor.call(JUDGE, said)
    async with scene.editor() as editor:
        with pytest.raises(PeerError) as refused:
            await listed(editor, session)
        assert refused.value.code == NOT_FOUND
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        (file,) = (await listed(editor, session))["files"]
        assert [hunk["newLines"] for hunk in file["hunks"]] == [["THREE"]]
        scene.provider.plays(step("I see."))
        await editor.prompt(session, "and?")
        assert any("rejected these parts" in line for line in plain_history(scene.provider.requests[-1]))


async def test_an_editor_that_undoes_a_hunk_itself_is_trusted(scene: Scene) -> None:
    async with scene.editor() as editor:
        session, path = await written(scene, editor)
        said = {"sessionId": session, "path": str(path), "verdict": "rejected", "hunks": [0], "isDone": True}
        assert await editor.call(JUDGE, said) == {"open": 1}
        assert path.read_text() == AFTER
        path.write_text("one\ntwo\nTHREE\nmine\n")
        (file,) = (await listed(editor, session))["files"]
        assert (file["oldText"], file["newText"]) == ("one\ntwo\nthree\nmine\n", "one\ntwo\nTHREE\nmine\n")


async def test_text_typed_in_the_meantime_stays(scene: Scene) -> None:
    async with scene.editor() as editor:
        session, path = await written(scene, editor)
        path.write_text("mine\n" + AFTER)
        assert await editor.call(JUDGE, {"sessionId": session, "verdict": "rejected"}) == {"open": 0}
        assert path.read_text() == "mine\n" + BEFORE


async def test_a_rejected_new_file_is_deleted(scene: Scene) -> None:
    async with scene.editor() as editor:
        scene.provider.plays(step(call("write_file", "c1", path="new.txt", content="x\n")), step("Done."))
        session = await editor.new_session(scene.project)
        await editor.call("session/set_mode", {"sessionId": session, "modeId": "accept_edits"})
        await editor.prompt(session)
        (file,) = (await listed(editor, session))["files"]
        assert file["oldText"] is None
        await editor.call(JUDGE, {"sessionId": session, "verdict": "rejected"})
        assert not (scene.project / "new.txt").exists()


async def test_hunk_numbers_from_another_state_are_rejected(scene: Scene) -> None:
    async with scene.editor() as editor:
        session, path = await written(scene, editor)
        said = {"sessionId": session, "path": str(path), "verdict": "rejected"}
        for wrong in ({"hunks": [7]}, {"revision": "0"}, {"path": "/nowhere"}):
            with pytest.raises(PeerError) as refused:
                await editor.call(JUDGE, {**said, **wrong})
            assert refused.value.code == INVALID_PARAMS
        with pytest.raises(PeerError):
            await editor.call(JUDGE, {"sessionId": session, "verdict": "rejected", "hunks": [0]})
        assert path.read_text() == AFTER


async def test_edits_that_wait_for_approval_are_listed_as_such(scene: Scene) -> None:
    seen: list[Json] = []
    scene.write("a.txt", BEFORE)
    scene.provider.plays(
        step(call("read_file", "c0", path="a.txt")),
        step(call("write_file", "c1", path="a.txt", content=AFTER)),
        step("Done."),
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)

        async def answer(params: Json) -> Json:
            seen.append(await listed(editor, session))
            return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}

        editor.on["session/request_permission"] = answer
        await editor.prompt(session)
        ((waiting,),) = [each["waiting"] for each in seen]
        assert (waiting["callId"], len(waiting["files"][0]["hunks"])) == ("c1", 2)
        assert await listed(editor, session) == {"files": [], "waiting": [], "judged": []}


DRAFTS: Json = {"_meta": {"hermes": {"drafts": True}}}


@pytest.mark.parametrize("capabilities", [DRAFTS, {}])
async def test_an_edit_in_progress_is_reported_to_clients_that_requested_it(
    scene: Scene, capabilities: Json
) -> None:
    written = '{"path": "new.txt", "content": "one\\ntwo\\n"}'
    pieces = [CallFragment("c1", "write_file", piece) for piece in (written[:35], written[35:])]
    arguments = call("write_file", "c1", path="new.txt", content="one\ntwo\n")
    scene.provider.plays(step(*pieces, arguments), step("Done."))
    async with scene.editor(**capabilities) as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        drafts = [params for method, params in editor.notified if method == "_hermes/edits/draft"]
    told = [(each["path"], each["newText"], each["isWhole"]) for each in drafts]
    assert told == ([("new.txt", "one\ntwo\n", True)] if capabilities else [])
    assert (scene.project / "new.txt").read_text() == "one\ntwo\n"


async def test_an_editor_searches_past_messages(scene: Scene) -> None:
    async with scene.editor() as editor:
        scene.provider.plays(step("The walrus is blue."))
        session = await editor.new_session(scene.project)
        await editor.prompt(session, "what of it?")
        asked = {"query": "walrus", "cwd": str(scene.project)}
        while not (answer := await editor.call("_hermes/sessions/search", asked))["found"]:
            pass  # A search waits for the latest messages, but not forever.
        (found,) = answer["found"]
        start, end = found["highlights"][0]
        assert (found["sessionId"], found["text"][start:end], found["speaker"]) == (
            session,
            "walrus",
            "agent",
        )
        assert (await editor.call("_hermes/sessions/search", {"query": "walrus", "cwd": "/x"}))["found"] == []
        then = {"query": "", "since": "2d"}
        (asked_for,) = (await editor.call("_hermes/sessions/search", then))["found"]
        assert (asked_for["speaker"], asked_for["text"], "at" in asked_for) == ("user", "what of it?", True)
        old = {"query": "walrus", "until": "2024"}
        assert (await editor.call("_hermes/sessions/search", old))["found"] == []
        for wrong in ({"query": "  "}, {"query": "walrus", "since": "13/13/2026"}):
            with pytest.raises(PeerError) as refused:
                await editor.call("_hermes/sessions/search", wrong)
            assert refused.value.code == INVALID_PARAMS


async def test_an_editor_of_the_next_version_sees_drafts_and_decisions(draft: Scene) -> None:
    arguments = call("write_file", "c1", path="new.txt", content="one\n")
    fragment = CallFragment("c1", "write_file", '{"path": "new.txt", "content": "one\\n"}')
    draft.provider.plays(step(fragment, arguments), step("Done."))
    async with drafter(draft, _meta={"hermes": {"drafts": True, "edits": True}}) as editor:
        session = await new_session(draft, editor)
        unasked = {"sessionId": session, "configId": "mode", "type": "id", "value": "accept_edits"}
        await editor.call("session/set_config_option", unasked)
        await turn(editor, session)
        path = str(draft.project / "new.txt")
        await editor.call(JUDGE, {"sessionId": session, "path": path, "verdict": "accepted"})
        told = [
            (name, params["path"]) for name, params in editor.notified if name.startswith("_hermes/edits")
        ]
    assert told == [("_hermes/edits/draft", "new.txt"), ("_hermes/edits/judged", path)]
