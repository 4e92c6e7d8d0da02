"""Runs in real sessions: what waits, what continues, and what is never done twice."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.app.app import App
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import Event, PermissionAnswered, TurnEnded, TurnStarted, UserSaid
from hermes_acp.core.ports.run_ports import RunView
from hermes_acp.runs.run_service import RunRequest
from hermes_acp.storage.transcript import Transcript
from tests.conversations.app_scene import RealClock, Scene, plain_history
from tests.conversations.fake_editor import WAIT_S
from tests.conversations.scripted_provider import Pause, call, step

pytestmark = pytest.mark.anyio


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path.resolve())
    scene.clock = RealClock()
    return scene


@asynccontextmanager
async def opened(scene: Scene) -> AsyncGenerator[App]:
    """Start a process that drives runs."""
    app = scene.open_app()
    try:
        async with background_tasks(app.keep, app.run_service.work):
            yield app
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()


def wish(scene: Scene, prompt: str = "Do it.", **changes: object) -> RunRequest:
    fields = {"prompt": prompt, "cwd": str(scene.project), "id": "run_1", **changes}
    return msgspec.convert(fields, RunRequest)


async def ended_or_waiting(app: App, run_id: str = "run_1") -> RunView:
    with anyio.fail_after(WAIT_S):
        async with app.run_service.engine.watch(0) as changes:
            async for _ in changes:
                view = await app.run_service.known(run_id)
                if view.state not in ("queued", "running"):
                    return view
    raise AssertionError


def events_of(scene: Scene, view: RunView) -> list[Event]:
    return Transcript.read_events(scene.record_of(view.order.session_id))


WRITE = call("write_file", path="made.txt", content="made\n")


async def test_a_run_is_a_turn_in_its_own_session(scene: Scene) -> None:
    scene.provider.plays(step("Done so."))
    async with opened(scene) as app:
        started = await app.run_service.start(wish(scene))
        view = await ended_or_waiting(app)
        assert (view.state, started.state) == ("done", "queued")
    events = events_of(scene, view)
    assert [event.run_id for event in events if isinstance(event, TurnStarted)] == ["run_1"]
    assert plain_history(scene.provider.requests[0])[-1] == "user: Do it."


async def test_a_question_waits_in_the_record_across_restarts(scene: Scene) -> None:
    scene.provider.plays(step("I write.", WRITE))
    async with opened(scene) as app:
        await app.run_service.start(wish(scene))
        view = await ended_or_waiting(app)
        assert view.state == "input_required"
        assert app.sessions.get(view.order.session_id) is None
    assert not (scene.project / "made.txt").exists()
    async with opened(scene) as app:
        (question,) = await app.run_service.records.questions_of(await app.run_service.known("run_1"))
        assert question.card.diffs[0].new_text == "made\n"
        assert question.why
        scene.provider.plays(step("Written."))
        await app.run_service.answer("run_1", "allow_once", by="ann")
        assert (await ended_or_waiting(app)).state == "done"
    assert (scene.project / "made.txt").read_text() == "made\n"
    events = events_of(scene, view)
    (answered,) = [event for event in events if isinstance(event, PermissionAnswered)]
    assert (answered.answer, answered.by) == ("allow_once", "ann")
    assert [event.reason for event in events if isinstance(event, TurnEnded)] == ["input_required", "done"]
    assert len([event for event in events if isinstance(event, UserSaid)]) == 1
    history = plain_history(scene.provider.requests[-1])
    assert history[0] == "user: Do it."
    assert history[1] == "assistant: I write.<write_file>"
    assert history[2].startswith("write_file: ")
    assert len(history) == 3


async def test_a_rejection_reaches_the_model_with_its_reason(scene: Scene) -> None:
    scene.provider.plays(step(WRITE), step("As you like."))
    async with opened(scene) as app:
        await app.run_service.start(wish(scene))
        await ended_or_waiting(app)
        await app.run_service.answer("run_1", "reject_once", "Use another name.", by="ann")
        assert (await ended_or_waiting(app)).state == "done"
    assert not (scene.project / "made.txt").exists()
    assert "Use another name." in plain_history(scene.provider.requests[-1])[-1]


async def test_the_agents_own_question_waits_too(scene: Scene) -> None:
    scene.provider.plays(
        step(call("ask_user", question="Which colour?", choices=["red", "blue"])), step("Blue it is.")
    )
    async with opened(scene) as app:
        await app.run_service.start(wish(scene))
        view = await ended_or_waiting(app)
        assert view.state == "input_required"
        (question,) = await app.run_service.records.questions_of(view)
        assert (question.is_for_text, question.asks.question, question.asks.choices) == (
            True,
            "Which colour?",
            ("red", "blue"),
        )
        with pytest.raises(BadRequest):
            await app.run_service.answer("run_1", "allow_once", by="ann")
        await app.run_service.answer("run_1", "allow_once", "blue", by="ann")
        assert (await ended_or_waiting(app)).state == "done"
    assert "blue" in plain_history(scene.provider.requests[-1])[-1]


async def test_calls_after_a_question_wait_and_those_before_it_run_once(scene: Scene) -> None:
    first = call("read_file", "c1", path="a.txt")
    second = call("write_file", "c2", path="one.txt", content="1")
    third = call("write_file", "c3", path="two.txt", content="2")
    scene.write("a.txt", "text of a")
    scene.provider.plays(step(first, second, third))
    async with opened(scene) as app:
        await app.run_service.start(wish(scene))
        view = await ended_or_waiting(app)
        assert view.waits_for == ("c2",)
    async with opened(scene) as app:
        await app.run_service.answer("run_1", "allow_once", by="ann")
        view = await ended_or_waiting(app)
        assert (view.state, view.waits_for) == ("input_required", ("c3",))
        assert (scene.project / "one.txt").read_text() == "1"
        assert not (scene.project / "two.txt").exists()
    scene.provider.plays(step("Both."))
    async with opened(scene) as app:
        await app.run_service.answer("run_1", "allow_once", by="ann")
        assert (await ended_or_waiting(app)).state == "done"
    lines = plain_history(scene.provider.requests[-1])
    assert [line.partition(":")[0] for line in lines[2:]] == ["read_file", "write_file", "write_file"]
    assert "text of a" in lines[2]


async def test_a_message_from_the_user_closes_the_question(scene: Scene) -> None:
    scene.provider.plays(step(WRITE), step("Then not."))
    async with opened(scene) as app:
        await app.run_service.start(wish(scene))
        view = await ended_or_waiting(app)
        await app.run_service.start(wish(scene, "Never mind.", id="run_2", session_id=view.order.session_id))
        await app.run_service.engine.stop("run_1")
        assert (await ended_or_waiting(app, "run_2")).state == "done"
    lines = plain_history(scene.provider.requests[-1])
    assert lines[-2].startswith("write_file: Not run: the question about this call was not answered.")
    assert lines[-1] == "user: Never mind."


async def test_an_interrupted_turn_is_resumed_and_its_prompt_sent_once(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step("I begin", pause))
    async with opened(scene) as app:
        await app.run_service.start(wish(scene))
        with anyio.fail_after(WAIT_S):
            await pause.reached.wait()
    scene.provider.plays(step("Done now."))
    async with opened(scene) as app:
        view = await ended_or_waiting(app)
        assert view.state == "done"
    events = events_of(scene, view)
    assert len([event for event in events if isinstance(event, UserSaid)]) == 1
    assert [event.reason for event in events if isinstance(event, TurnEnded)] == ["cancelled", "done"]


async def test_a_budget_covers_all_turns_of_a_run_together(scene: Scene) -> None:
    scene.provider.plays(step(WRITE), step("More"), step("More"))
    async with opened(scene) as app:
        await app.run_service.start(wish(scene, budget={"max_tokens": 10}))
        assert (await ended_or_waiting(app)).state == "input_required"
        await app.run_service.answer("run_1", "allow_once", by="ann")
        view = await ended_or_waiting(app)
    assert (view.state, view.failure) == ("failed", "budget")


async def test_an_unknown_mode_fails_the_run(scene: Scene) -> None:
    async with opened(scene) as app:
        await app.run_service.start(wish(scene, mode="careless"))
        view = await ended_or_waiting(app)
        assert (view.state, view.failure) == ("failed", "usage")
        await app.run_service.start(wish(scene, mode="bypass", id="run_2"))
        view = await ended_or_waiting(app, "run_2")
        assert (view.state, view.failure) == ("failed", "usage")


async def test_a_run_waits_for_a_session_that_is_open_elsewhere(scene: Scene) -> None:
    scene.provider.plays(step("Hello."), step("My turn."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        async with opened(scene) as app:
            await app.run_service.start(wish(scene, session_id=session))
            with anyio.fail_after(WAIT_S):
                while (await app.run_service.known("run_1")).attempts.epoch < 1:
                    await anyio.sleep(0.01)
    async with opened(scene) as app:
        view = await ended_or_waiting(app)
        assert view.state == "done"


async def test_the_agent_schedules_only_what_its_user_approved(scene: Scene) -> None:
    """The question contains the whole prompt, in every mode; afterwards, the schedule exists."""
    scene.overrides["mode"] = "auto"
    add = call(
        "schedule",
        action="add",
        prompt="Look at the news.",
        cron="0 7 * * 1-5",
        tz="Europe/Berlin",
        name="news",
    )
    scene.provider.plays(step(add), step("Scheduled."))
    app = scene.open_app()
    app.run_service.is_resident = True
    try:
        async with background_tasks(app.keep, app.run_service.work):
            await app.run_service.start(wish(scene))
            view = await ended_or_waiting(app)
            assert view.state == "input_required"
            (question,) = await app.run_service.records.questions_of(view)
            assert question.card.title == "Schedule: At 07:00 on Monday through Friday (Europe/Berlin)"
            assert "Look at the news." in question.card.diffs[0].new_text
            assert await app.run_service.engine.schedules.list() == []
            await app.run_service.answer("run_1", "allow_once", by="ann")
            assert (await ended_or_waiting(app)).state == "done"
            (added,) = await app.run_service.engine.schedules.list()
            assert (added.schedule.id, added.schedule.timing.cron) == ("news", "0 7 * * 1-5")
            assert added.schedule.origin == f"session:{view.order.session_id}"
            scene.provider.plays(
                step(call("schedule", action="list")), step(call("schedule", action="remove", name="news"))
            )
            await app.run_service.start(wish(scene, id="run_2"))
            view = await ended_or_waiting(app, "run_2")
            assert view.state == "input_required"
            (question,) = await app.run_service.records.questions_of(view)
            assert question.card.title == "Remove the schedule news"
            scene.provider.plays(step("Kept then."))
            await app.run_service.answer("run_2", "reject_once", by="ann")
            assert (await ended_or_waiting(app, "run_2")).state == "done"
            assert len(await app.run_service.engine.schedules.list()) == 1
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()


async def test_a_process_that_drives_no_runs_offers_no_schedules(scene: Scene) -> None:
    scene.provider.plays(step("Hello."))
    async with opened(scene) as app:
        await app.run_service.start(wish(scene))
        await ended_or_waiting(app)
    assert "schedule" not in {tool.name for tool in scene.provider.requests[0].tools}
