"""Times of calls and turns, as sent to editors and shown by `/cost`."""

from datetime import datetime
from typing import Any

import pytest

from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
TIMED = {"_meta": {"hermes": {"times": True}}}


def own_members(editor: FakeEditor) -> list[dict[str, Any]]:
    updates: list[Json] = [
        params["update"] for method, params in editor.notified if method == "session/update"
    ]
    return [each["_meta"]["hermes"] for each in updates if "hermes" in each.get("_meta", {})]


async def test_an_editor_that_requests_times_gets_them_and_cost_shows_them(scene: Scene) -> None:
    (scene.project / "a.txt").write_text("x")
    scene.provider.plays(step("Reading.", call("read_file", path="a.txt")), step("Done."), step("Again."))
    async with scene.editor(**TIMED) as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session, "read it")
        own = own_members(editor)
        started = next(each["startedAtMs"] for each in own if "startedAtMs" in each)
        ended = next(each for each in own if "endedAtMs" in each)
        assert ended["startedAtMs"] == started <= ended["endedAtMs"]
        (times,) = [each["turnTimes"] for each in own if "turnTimes" in each]
        assert times["beganAtMs"] <= started
        assert times["totalMs"] >= times["modelMs"] + times["toolsMs"] + times["waitingMs"] - 3
        assert "firstTokenMs" in times
        await editor.prompt(session, "again")
        await editor.prompt(session, "/cost")
        said = "".join(
            params["update"]["content"]["text"]
            for method, params in editor.notified
            if method == "session/update" and params["update"]["sessionUpdate"] == "agent_message_chunk"
        )
        assert "**Last turn:**" in said
        assert "**2 turns:**" in said


async def test_past_events_are_replayed_with_their_original_times(scene: Scene) -> None:
    (scene.project / "a.txt").write_text("x")
    scene.provider.plays(step("Reading.", call("read_file", path="a.txt")), step("Done."))
    async with scene.editor(**TIMED) as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session, "read it")
        live = own_members(editor)
    async with scene.editor(**TIMED) as editor:
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        past = own_members(editor)
    (said,) = [each["promptTimes"] for each in past if "promptTimes" in each]
    (call_times,) = [each for each in past if "endedAtMs" in each]
    (turn,) = [each["turnTimes"] for each in past if "turnTimes" in each]
    (told,) = [each["turnTimes"] for each in live if "turnTimes" in each]
    assert turn["beganAtMs"] - 1000 < said["saidAtMs"] <= call_times["startedAtMs"] <= call_times["endedAtMs"]
    assert abs(turn["beganAtMs"] - told["beganAtMs"]) < 1000
    assert turn.keys() == told.keys()


async def test_other_editors_are_sent_no_times(scene: Scene) -> None:
    scene.provider.plays(step("Hi."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session, "hello")
        assert not any("turnTimes" in each for each in own_members(editor))


async def test_the_model_is_told_the_local_date_and_weekday_once(scene: Scene) -> None:
    scene.provider.plays(step("Hi."), step("Still here."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session, "hello")
        await editor.prompt(session, "again")
    first, second = scene.provider.requests
    today = datetime.fromtimestamp(scene.clock.now_s).strftime("%A, %Y-%m-%d")
    assert f"Date when this session began: {today}" in "".join(first.system)
    assert first.system == second.system, "the beginning of the prompt is unchanged"
