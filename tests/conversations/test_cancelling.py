"""Stopping a turn at every point."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import ModelUnavailable
from hermes_protocol.errors import CANCELLED
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import Pause, call, step
from tests.conversations.wire_laws import Json

STOPPED = ["user: the first", "user: [Nothing was answered to this: the user stopped it.]"]
pytestmark = pytest.mark.anyio
ASK = "session/request_permission"


@asynccontextmanager
async def prompted(editor: FakeEditor, session: str, text: str = "the first") -> AsyncGenerator[None]:
    """Prompt while the block runs; the block must get the turn cancelled."""

    async def ask() -> None:
        assert await editor.prompt(session, text) == "cancelled"

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        yield


async def goes_on(scene: Scene, editor: FakeEditor, session: str) -> list[str]:
    """Prompt again, check that the answer belongs to this prompt, and return what the model was shown."""
    scene.provider.steps = [step("Still here.")]
    seen = len(editor.updates)
    assert await editor.prompt(session, "the next") == "end_turn"
    assert ShownSession(editor, session, seen).text == "Still here."
    return plain_history(scene.provider.requests[-1])


async def test_cancelling_while_the_model_is_being_set_up(scene: Scene) -> None:
    del scene.variables["HERMES_MODEL"]
    scene.provider.listing = Pause()
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        async with prompted(editor, session):
            await scene.provider.listing.reached.wait()
            await editor.call("session/list", {})
            editor.cancel(session)
        scene.provider.listing.go.set()
        assert await goes_on(scene, editor, session) == ["user: the next"]


async def test_cancelling_while_the_model_is_silent(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step(pause, "Too late."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        async with prompted(editor, session):
            await pause.reached.wait()
            editor.cancel(session)
        assert scene.provider.streams_open == 0
        assert await goes_on(scene, editor, session) == [*STOPPED, "user: the next"]


async def test_cancelling_while_the_model_streams_text(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step("It was a dark ", "and stormy", pause, " night."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        async with prompted(editor, session):
            await pause.reached.wait()
            editor.cancel(session)
        assert ShownSession(editor, session).text == "It was a dark and stormy"
        assert await goes_on(scene, editor, session) == [
            "user: the first",
            "assistant: It was a dark and stormy\n[The turn was interrupted here.]",
            "user: the next",
        ]


async def test_cancelling_while_a_failed_step_waits_for_its_retry(scene: Scene) -> None:
    scene.overrides.update({"retry.first_wait_s": 60, "retry.longest_wait_s": 60})
    scene.provider.plays(step("Half a wo", ModelUnavailable("The line broke.", retryable=True)))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        async with prompted(editor, session):
            await editor.until(lambda: "Trying again" in ShownSession(editor, session).thoughts)
            editor.cancel(session)
        assert await goes_on(scene, editor, session) == [*STOPPED, "user: the next"]


async def test_cancelling_while_the_user_is_asked(scene: Scene) -> None:
    scene.provider.plays(
        step(call("write_file", "c1", path="a", content="x"), call("write_file", "c2", path="b", content="x"))
    )

    async def wait_for_ever(params: Json) -> None:
        await anyio.sleep_forever()

    async with scene.editor() as editor:
        answer, editor.on[ASK] = editor.on[ASK], wait_for_ever
        session = await editor.new_session(scene.project)
        async with prompted(editor, session):
            await editor.until(lambda: editor.asks(ASK))
            editor.cancel(session)
        await editor.until(lambda: editor.given_up)
        reported = ShownSession(editor, session)
        assert {card["status"] for card in reported.cards.values()} == {"failed"}
        assert [piece["type"] for piece in reported.cards["c1"]["content"]] == ["diff"]
        assert "stopped" in reported.cards["c1"]["rawOutput"]["text"]
        editor.on[ASK] = answer
        history = await goes_on(scene, editor, session)
    assert [line.split(":")[0] for line in history] == [
        "user",
        "assistant",
        "write_file",
        "write_file",
        "user",
    ]
    assert not (scene.project / "a").exists()


async def test_cancelling_while_the_user_is_asked_and_answers_cancelled(scene: Scene) -> None:
    """As the protocol specifies: an editor that cancels answers its open questions with `cancelled`."""
    scene.provider.plays(
        step(call("write_file", "c1", path="a", content="x")), step("Should not be asked for.")
    )
    stopped = anyio.Event()

    async def answer_cancelled(params: Json) -> Json:
        with anyio.CancelScope(shield=True):
            await stopped.wait()
        return {"outcome": {"outcome": "cancelled"}}

    async with scene.editor() as editor:
        editor.on[ASK] = answer_cancelled
        session = await editor.new_session(scene.project)
        async with prompted(editor, session):
            await editor.until(lambda: editor.asks(ASK))
            editor.cancel(session)
            stopped.set()
        assert len(scene.provider.requests) == 1
        assert (await goes_on(scene, editor, session))[-1] == "user: the next"


def is_alive(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True


async def test_cancelling_while_a_command_runs(scene: Scene) -> None:
    line = "sleep 300 & echo $! > child; echo $$ > shell; echo started; sleep 300"
    scene.provider.plays(step(call("terminal", "c1", command=line), call("read_file", "c2", path="child")))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        async with prompted(editor, session):
            await editor.until(
                lambda: "started" in str(ShownSession(editor, session).cards.get("c1", {}).get("content"))
            )
            process_ids = [int((scene.project / name).read_text()) for name in ("child", "shell")]
            assert all(is_alive(each) for each in process_ids)
            editor.cancel(session)
        assert not any(is_alive(each) for each in process_ids)
        reported = ShownSession(editor, session)
        assert reported.statuses("c1") == ["pending", "in_progress", "failed"]
        assert reported.statuses("c2") == ["pending", "failed"]
        assert "started" in str(reported.cards["c1"]["content"])
        assert "stopped" in reported.cards["c1"]["rawOutput"]["text"]
        assert "stopped" in str(reported.cards["c2"]["content"])
        history = await goes_on(scene, editor, session)
        assert "stopped" in history[2]
    assert [line.split(":")[0] for line in history] == ["user", "assistant", "terminal", "read_file", "user"]


async def test_cancelling_with_a_second_prompt_in_the_queue(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step(pause))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        async with prompted(editor, session), prompted(editor, session, "the second"):
            await pause.reached.wait()
            await editor.call("session/list", {})
            editor.cancel(session)
        assert await goes_on(scene, editor, session) == [*STOPPED, "user: the next"]


async def test_cancelling_an_idle_session_is_no_error(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        editor.cancel(session)
        editor.cancel("ses_none")
        assert await goes_on(scene, editor, session) == ["user: the next"]


async def test_cancelling_one_session_does_not_affect_the_other(scene: Scene) -> None:
    pauses = [Pause(), Pause()]
    scene.provider.plays(step(pauses[0]), step("Mine.", pauses[1]))
    async with scene.editor() as editor:
        first, second = [await editor.new_session(scene.project) for _ in range(2)]
        async with anyio.create_task_group() as tasks:
            async with prompted(editor, first):
                await pauses[0].reached.wait()
                tasks.start_soon(editor.prompt, second)
                await pauses[1].reached.wait()
                editor.cancel(first)
            assert scene.provider.streams_open == 1
            pauses[1].go.set()
        assert ShownSession(editor, second).text == "Mine."


async def test_a_request_cancelled_by_its_id_ends_the_turn_too(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step(call("write_file", "c1", path="a", content="x")), step(pause))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        block = {"type": "text", "text": "the first"}
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                await editor.call("session/prompt", {"sessionId": session, "prompt": [block]})

            tasks.start_soon(ask)
            await pause.reached.wait()
            tasks.cancel_scope.cancel()
        await goes_on(scene, editor, session)
    prompt = next(frame for _, frame in editor.laws.frames if frame.get("method") == "session/prompt")
    answers = [
        frame for side, frame in editor.laws.frames if side == "agent" and frame.get("id") == prompt["id"]
    ]
    assert [answer["error"]["code"] for answer in answers if "method" not in answer] == [CANCELLED]


async def test_closing_a_session_stops_its_turn(scene: Scene, tmp_path: Path) -> None:
    pause = Pause()
    scene.provider.plays(step(pause))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        async with prompted(editor, session):
            await pause.reached.wait()
            await editor.call("session/close", {"sessionId": session})
        again: Json = {"sessionId": session, "cwd": str(scene.project), "mcpServers": []}
        await editor.call("session/load", again)
        assert await goes_on(scene, editor, session) == [*STOPPED, "user: the next"]


async def test_a_cancel_sent_right_after_its_prompt_cancels_it(scene: Scene) -> None:
    scene.provider.plays(step("One."), step("Two."))
    ends: list[str] = []
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)

        async def ask() -> None:
            ends.append(await editor.prompt(session))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.lowlevel.checkpoint()
            editor.connection.notify("session/cancel", {"sessionId": session})
        assert ends == ["cancelled"]
        assert await editor.prompt(session) == "end_turn"
