"""Stopping one call or one terminal; the turn continues."""

import anyio
import pytest

from hermes_protocol.errors import INVALID_PARAMS, NOT_FOUND
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.draft_editor import Shown, drafter, idles, new_session, saying, turn
from tests.conversations.fake_editor import FakeEditor
from tests.conversations.scripted_provider import call, step
from tests.conversations.test_cancelling import is_alive
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
LINE = "sleep 300 & echo $! > child; echo $$ > shell; echo started; sleep 300"
CANCEL = {"tool_call/cancel": "toolCallId", "terminal/cancel": "terminalId"}
STATUS = {"tool_call/cancel": "cancelled", "terminal/cancel": "failed"}


async def started(editor: FakeEditor, session: str) -> None:
    await editor.call("session/prompt", saying(session))
    await editor.until(lambda: "started" in Shown(editor, session).terminals.get("c1", {}).get("text", ""))


def ids(draft: Scene) -> list[int]:
    return [int((draft.project / name).read_text()) for name in ("child", "shell")]


@pytest.mark.parametrize("method", CANCEL)
async def test_one_call_is_stopped_and_the_turn_continues(draft: Scene, method: str) -> None:
    draft.write("a", "all of a")
    draft.provider.plays(
        step(call("terminal", "c1", command=LINE), call("read_file", "c2", path="a")),
        step("Without it, then."),
    )
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await started(editor, session)
        shown = Shown(editor, session)
        assert shown.cards["c1"]["capabilities"] == shown.terminals["c1"]["capabilities"] == {"cancel": {}}
        assert all(map(is_alive, ids(draft)))
        assert await editor.call(method, {"sessionId": session, CANCEL[method]: "c1"}) == {}
        await editor.until(lambda: idles(editor, session))
        shown = Shown(editor, session)
        assert not any(map(is_alive, ids(draft)))
        assert idles(editor, session)[-1]["stopReason"] == "end_turn"
    assert shown.cards["c1"]["status"] == STATUS[method]
    assert shown.cards["c2"]["status"] == "completed"
    assert shown.cards["c1"]["capabilities"] is shown.terminals["c1"]["capabilities"] is None
    assert shown.terminals["c1"]["text"].strip() == "started"
    *_, command, file = plain_history(draft.provider.requests[1])
    assert command.startswith("terminal: started\nCancelled by the user")
    assert "all of a" in file


async def test_a_stopped_call_is_replayed_as_it_was_shown(draft: Scene) -> None:
    draft.provider.plays(step(call("terminal", "c1", command=LINE)), step("Without it, then."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await started(editor, session)
        await editor.call("tool_call/cancel", {"sessionId": session, "toolCallId": "c1"})
        await editor.until(lambda: idles(editor, session))
    async with drafter(draft) as editor:
        params: Json = {"sessionId": session, "cwd": str(draft.project), "replayFrom": {"type": "start"}}
        await editor.call("session/resume", params)
        shown = Shown(editor, session)
    assert (shown.cards["c1"]["status"], shown.cards["c1"]["capabilities"]) == ("cancelled", None)
    assert (shown.terminals["c1"]["exitStatus"], shown.terminals["c1"]["text"]) == ({}, "started")


@pytest.mark.parametrize("method", CANCEL)
async def test_stopping_without_a_running_call_is_an_error(draft: Scene, method: str) -> None:
    draft.provider.plays(step(call("terminal", "c1", command="true")), step("Done."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await turn(editor, session)
        for call_id in ("c1", "c9"):
            error = await editor.refusal(method, {"sessionId": session, CANCEL[method]: call_id})
            assert (error.code, error.data) == (INVALID_PARAMS, {"code": "bad_request"})
        error = await editor.refusal(method, {"sessionId": "ses_none", CANCEL[method]: "c1"})
        assert (error.code, error.data) == (NOT_FOUND, {"code": "not_found", "sessionId": "ses_none"})


async def test_a_call_without_a_terminal_has_none_to_stop(draft: Scene) -> None:
    asked, goes = anyio.Event(), anyio.Event()

    async def think(params: Json) -> Json:
        asked.set()
        await goes.wait()
        return {"action": "decline"}

    draft.provider.plays(step(call("ask_user", "c1", question="Which?")), step("Never mind."))
    async with drafter(draft, elicitation={"form": {}}) as editor:
        editor.on["elicitation/create"] = think
        session = await new_session(draft, editor)
        await editor.call("session/prompt", saying(session))
        await asked.wait()
        error = await editor.refusal("terminal/cancel", {"sessionId": session, "terminalId": "c1"})
        assert error.code == INVALID_PARAMS
        await editor.call("tool_call/cancel", {"sessionId": session, "toolCallId": "c1"})
        await editor.until(lambda: idles(editor, session))
        assert editor.given_up == editor.asks("elicitation/create")
        assert Shown(editor, session).cards["c1"]["status"] == "cancelled"
    assert "Cancelled by the user" in plain_history(draft.provider.requests[1])[-1]
