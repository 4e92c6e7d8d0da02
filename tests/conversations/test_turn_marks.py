"""Marks that a client needs to rewind, to steer with one prompt, and to omit the text of a failed step."""

from typing import Any

import anyio
import pytest

from hermes_acp.core.errors import ModelUnavailable
from hermes_protocol.errors import INVALID_PARAMS, INVALID_REQUEST
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import FakeEditor
from tests.conversations.scripted_provider import Pause, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
MARKED = {"_meta": {"hermes": {"turnMarks": True}}}


def marks(editor: FakeEditor, name: str) -> list[dict[str, Any]]:
    """Return the marks of one kind that the editor was sent, in order."""
    updates: list[Json] = [
        params["update"] for method, params in editor.notified if method == "session/update"
    ]
    own: list[Json] = [each.get("_meta", {}).get("hermes", {}) for each in updates]
    return [each[name] for each in own if name in each]


def fork_before(scene: Scene, session: str, message_id: str) -> Json:
    meta = {"hermes": {"beforeMessage": message_id}}
    return {"sessionId": session, "cwd": str(scene.project), "mcpServers": [], "_meta": meta}


async def test_a_fork_can_end_before_a_prompt(scene: Scene) -> None:
    scene.offer_unstable()
    scene.provider.plays(step("Apples."), step("Pears."), step("Plums."), step("Figs."))
    async with scene.editor(**MARKED) as editor:
        session = await editor.new_session(scene.project)
        for word in ("one", "two", "three"):
            await editor.prompt(session, word)
        prompts = [each["messageId"] for each in marks(editor, "promptRecorded")]
        assert len(prompts) == 3
        before = scene.record_of(session).read_bytes()
        fork = (await editor.call("session/fork", fork_before(scene, session, prompts[1])))["sessionId"]
        await editor.prompt(fork, "another two")
        assert plain_history(scene.provider.requests[-1]) == [
            "user: one",
            "assistant: Apples.",
            "user: another two",
        ]
        assert scene.record_of(session).read_bytes() == before
        refusal = await editor.refusal("session/fork", fork_before(scene, session, "msg_none"))
        assert refusal.code in (INVALID_PARAMS, INVALID_REQUEST)


async def test_one_prompt_can_steer_although_the_session_queues(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step("Working.", pause), step("Turned around."))
    async with scene.editor(**MARKED) as editor:
        session = await editor.new_session(scene.project)

        async def steer() -> None:
            parts = [{"type": "text", "text": "no, right"}]
            meta = {"hermes": {"steers": True}}
            await editor.call("session/prompt", {"sessionId": session, "prompt": parts, "_meta": meta})

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(editor.prompt, session, "go left")
            await pause.reached.wait()
            tasks.start_soon(steer)
            await editor.call("session/list", {})
            pause.go.set()
        assert len(marks(editor, "promptRecorded")) == 2
    assert plain_history(scene.provider.requests[1])[-1] == "user: no, right"
    assert len(scene.provider.requests) == 2


async def test_a_failed_step_is_marked_live_and_replayed(scene: Scene) -> None:
    scene.provider.plays(step("Half", ModelUnavailable("Cut.", retryable=True)), step("Whole."))
    async with scene.editor(**MARKED) as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        (failed,) = marks(editor, "stepFailed")
        assert failed["retried"] is True
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        assert marks(editor, "stepFailed") == [failed, failed]


async def test_other_clients_are_sent_no_marks(scene: Scene) -> None:
    scene.provider.plays(step("Done."))
    async with scene.editor() as editor:
        await editor.prompt(await editor.new_session(scene.project))
        assert not marks(editor, "promptRecorded")
