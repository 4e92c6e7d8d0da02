"""Open questions of runs and sessions, and the schedules of a home, as a client lists and changes them."""

import anyio
import msgspec
import pytest

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.runs.run_service import RunRequest
from hermes_protocol.errors import PeerError, PeerGone
from tests.conversations.app_scene import RealClock, Scene
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import Pause, call, step
from tests.conversations.shared_app import strangers
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
WRITE = call("write_file", "c1", path="made.txt", content="made\n")


@pytest.fixture
def scene(scene: Scene) -> Scene:
    scene.clock = RealClock()
    return scene


async def test_a_run_with_a_question_is_listed_until_it_is_answered(scene: Scene) -> None:
    scene.provider.plays(step("I write.", WRITE), step("Done so."))
    async with scene.editor(_meta={"hermes": {}}) as editor:
        app = scene.open_app()
        async with background_tasks(app.keep), anyio.create_task_group() as tasks:
            service = app.run_service
            assert await editor.call("_hermes/waiting/list", {}) == {"waiting": []}
            fields = {"prompt": "Write it.\nCarefully.", "cwd": str(scene.project), "id": "run_1"}
            await service.start(msgspec.convert(fields, RunRequest))
            tasks.start_soon(service.work)
            async with service.engine.watch(0) as changes:
                async for change in changes:
                    if change.state == "input_required":
                        (one,) = (await editor.call("_hermes/waiting/list", {}))["waiting"]
                        assert (one["kind"], one["id"], one["title"]) == ("run", "run_1", "Write it.")
                        assert one["questions"] == ["Create made.txt"]
                        answer = {"id": "run_1", "callId": "c1", "isAllowed": True}
                        await editor.call("_hermes/runs/answer", answer)
                    elif change.state == "done":
                        break
            assert await editor.call("_hermes/waiting/list", {}) == {"waiting": []}
            tasks.cancel_scope.cancel()
        await app.aclose()


async def test_a_session_with_a_question_is_listed_once_its_client_is_gone(scene: Scene) -> None:
    pause, hermes = Pause(), Json({"hermes": {}})
    scene.provider.plays(step("Working. ", pause, WRITE), step("Done."))
    async with strangers(scene, 2) as (first, second):
        await first.initialize(_meta=hermes)
        await second.initialize(_meta=hermes)
        session_id = await first.new_session(scene.project)

        async def prompt() -> None:
            with pytest.raises(PeerGone):
                await first.prompt(session_id, "write it")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt)
            await pause.reached.wait()
            assert await second.call("_hermes/waiting/list", {}) == {"waiting": []}
            await first.connection.aclose()
        pause.go.set()
        waiting: list[Json] = []
        while not waiting:
            waiting = (await second.call("_hermes/waiting/list", {}))["waiting"]
        (one,) = waiting
        assert (one["kind"], one["id"], one["title"]) == ("session", session_id, "write it")
        assert one["questions"] == ["Create made.txt"]
        params: Json = {"sessionId": session_id, "cwd": str(scene.project), "mcpServers": []}
        await second.call("session/load", params)
        await second.until(lambda: ShownSession(second, session_id).text == "Working. Done.")
        assert await second.call("_hermes/waiting/list", {}) == {"waiting": []}


async def test_schedules_are_previewed_added_paused_run_and_removed(scene: Scene) -> None:
    async with scene.editor(_meta={"hermes": {}}) as editor:
        prompt = "Say what changed.\n<b>All</b> of it."
        wish = {"prompt": prompt, "cwd": str(scene.project), "cron": "0 7 * * 1-5", "tz": "Europe/Berlin"}
        tried = await editor.call("_hermes/schedules/add", wish | {"isTrial": True})
        assert (tried["id"], "07:00" in tried["when"], tried["nextAt"] != "") == ("", True, True)
        assert (await editor.call("_hermes/schedules/list", {}))["schedules"] == []
        wish |= {"name": "morning", "late": "within", "lateWithinS": 7200, "maxCostUsd": 0.5}
        added = await editor.call("_hermes/schedules/add", wish)
        assert (added["id"], added["nextAt"]) == ("morning", tried["nextAt"])
        (one,) = (await editor.call("_hermes/schedules/list", {}))["schedules"]
        shown = {name: one[name] for name in ("prompt", "cron", "tz", "late", "lateWithinS", "maxCostUsd")}
        assert shown == {name: wish[name] for name in shown}
        await change(editor, "pause")
        (one,) = (await editor.call("_hermes/schedules/list", {}))["schedules"]
        assert (one["isPaused"], one["nextAt"]) == (True, "")
        await change(editor, "resume")
        run_id = (await change(editor, "runNow"))["runId"]
        assert run_id in {each["id"] for each in (await editor.call("_hermes/runs/list", {}))["runs"]}
        history = await editor.call("_hermes/schedules/history", {"id": "morning"})
        assert [(each["fate"], each["runId"]) for each in history["occurrences"]] == [("started", run_id)]
        await change(editor, "remove")
        assert (await editor.call("_hermes/schedules/list", {}))["schedules"] == []


async def test_invalid_schedules_are_rejected(scene: Scene) -> None:
    async with scene.editor(_meta={"hermes": {}}) as editor:
        good = {"prompt": "Do it.", "cwd": str(scene.project), "cron": "0 7 * * *"}
        for wrong, said in (
            ({"cron": "at seven"}, "cron expression"),
            ({"at": "18:00"}, "either cron or at"),
            ({"tz": "Mars/Base"}, "time zone"),
            ({"prompt": " "}, "empty"),
            ({"cwd": "project"}, "absolute"),
            ({"cwd": str(scene.project / "none")}, "folder"),
        ):
            with pytest.raises(PeerError, match=said):
                await editor.call("_hermes/schedules/add", good | wrong)
        for method in ("history", "change"):
            with pytest.raises(PeerError, match="none"):
                await editor.call(f"_hermes/schedules/{method}", {"id": "none", "action": "pause"})


async def change(editor: FakeEditor, action: str) -> Json:
    return await editor.call("_hermes/schedules/change", {"id": "morning", "action": action})
