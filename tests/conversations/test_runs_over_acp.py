"""Runs as a client lists, answers and stops them."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio
import msgspec
import pytest

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.app.app import App
from hermes_acp.runs.run_service import RunRequest
from hermes_protocol.errors import PeerError
from tests.conversations.app_scene import RealClock, Scene
from tests.conversations.fake_editor import FakeEditor
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
WRITE = call("write_file", "c1", path="made.txt", content="made\n")
RUN = call("terminal", "c2", command="rm -rf build")


@pytest.fixture
def scene(scene: Scene) -> Scene:
    scene.clock = RealClock()
    return scene


@asynccontextmanager
async def worker(scene: Scene) -> AsyncGenerator[App]:
    """Start another process with the same home, which can drive runs."""
    app = scene.open_app()
    try:
        async with background_tasks(app.keep):
            yield app
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()


async def start(app: App, scene: Scene, run_id: str) -> None:
    fields = {"prompt": f"Do {run_id}.", "cwd": str(scene.project), "id": run_id}
    await app.run_service.start(msgspec.convert(fields, RunRequest))


async def runs_of(editor: FakeEditor) -> dict[str, Json]:
    listed = await editor.call("_hermes/runs/list", {})
    return {each["id"]: each for each in listed["runs"]}


async def test_a_client_lists_runs_and_answers_their_questions(scene: Scene) -> None:
    scene.provider.plays(
        step("I write.", WRITE), step("Done so."), step("I clean.", RUN), step("As you like.")
    )
    async with (
        scene.editor(_meta={"hermes": {}}) as editor,
        worker(scene) as app,
        anyio.create_task_group() as tasks,
    ):
        service = app.run_service
        await start(app, scene, "run_1")
        (queued,) = (await runs_of(editor)).values()
        assert (queued["state"], queued["prompt"], queued["cwd"]) == (
            "queued",
            "Do run_1.",
            str(scene.project),
        )
        tasks.start_soon(service.work)
        async with service.engine.watch(0) as changes:
            async for change in changes:
                if change.state == "input_required" and change.run_id == "run_1":
                    (question,) = (await editor.call("_hermes/runs/show", {"id": "run_1"}))["questions"]
                    assert question["diffs"][0]["newText"] == "made\n"
                    assert question["why"]
                    answer = {"id": "run_1", "callId": "c1", "isAllowed": True}
                    with pytest.raises(PeerError, match="other"):
                        await editor.call("_hermes/runs/answer", answer | {"callId": "other"})
                    await editor.call("_hermes/runs/answer", answer)
                elif change.state == "done" and change.run_id == "run_1":
                    await start(app, scene, "run_2")
                elif change.state == "input_required":
                    (question,) = (await editor.call("_hermes/runs/show", {"id": "run_2"}))["questions"]
                    assert question["input"].splitlines()[0] == "rm -rf build"
                    stopped = await editor.call("_hermes/runs/stop", {"id": "run_2"})
                    assert stopped["state"] == "stopped"
                    break
        assert (scene.project / "made.txt").read_text() == "made\n"
        assert {name: each["state"] for name, each in (await runs_of(editor)).items()} == {
            "run_1": "done",
            "run_2": "stopped",
        }
        with pytest.raises(PeerError, match="no run"):
            await editor.call("_hermes/runs/stop", {"id": "other"})
        tasks.cancel_scope.cancel()
