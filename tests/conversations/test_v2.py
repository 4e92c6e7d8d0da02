"""Turns in the draft of protocol version 2: accepted first, then reported by states, cards and terminals."""

import subprocess
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from hermes_acp.core.errors import ModelRefused, ModelUnavailable
from hermes_protocol.errors import AUTH_REQUIRED, CANCELLED, INTERNAL_ERROR, INVALID_PARAMS, NOT_FOUND
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.draft_editor import ASK, Shown, drafter, idles, new_session, resuming, saying, turn
from tests.conversations.fake_editor import allow
from tests.conversations.scripted_provider import Pause, ScriptedThought, call, step
from tests.conversations.test_storage_faults import fill_disk_under
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio


async def test_a_full_turn_from_acceptance_to_idle(draft: Scene) -> None:
    draft.write("a.txt", "one\ntwo\n")
    draft.provider.plays(
        step(ScriptedThought("Hm."), "Let me see.", call("read_file", "c1", path="a.txt")),
        step(call("plan", "c2", entries=[{"content": "edit"}])),
        step(call("edit_file", "c3", path="a.txt", old_text="two", new_text="three")),
        step(call("read_file", "c4", path="none.txt")),
        step("All done."),
    )
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        answer = await editor.call("session/prompt", saying(session, "Count on"))
        await editor.until(lambda: idles(editor, session))
        shown = Shown(editor, session)
        question = editor.asks(ASK)[0]
    assert shown.words["user_message", answer["messageId"]] == "Count on"
    assert shown.said("agent_thought") == ["Hm."]
    assert shown.said("agent_message") == ["Let me see.", "All done."]
    assert shown.states == ["running", "requires_action", "running", "idle"]
    assert idles(editor, session)[-1]["stopReason"] == "end_turn"
    assert shown.statuses("c1") == ["pending", "in_progress", "completed"]
    assert shown.statuses("c4") == ["pending", "in_progress", "failed"]
    assert len(shown.cards["c4"]["content"]) == 1
    assert shown.of("plan_update")[0]["plan"]["entries"][0]["content"] == "edit"
    assert question["subject"]["toolCall"]["toolCallId"] == "c3"
    assert question["subject"]["toolCall"]["content"] == shown.cards["c3"]["content"]
    diff = shown.cards["c3"]["content"][0]
    path = str(draft.project / "a.txt")
    assert [(change["operation"], change["path"]) for change in diff["changes"]] == [("modify", path)]
    assert diff["patch"]["text"].splitlines()[-3:] == [" one", "-two", "+three"]
    assert (draft.project / "a.txt").read_text() == "one\nthree\n"


async def test_a_patch_is_accepted_by_git(draft: Scene, tmp_path: Path) -> None:
    lines = [f"line {number}\n" for number in range(40)]
    before = "".join(lines) + "the end"
    path = draft.write('folder/an "odd" name.txt', before)
    draft.provider.plays(
        step(call("read_file", "c0", path=str(path))),
        step(call("edit_file", "c1", path=str(path), old_text="line 20\n", new_text="")),
        step(call("edit_file", "c2", path=str(path), old_text="the end", new_text="the end\nand more\n")),
        step(call("write_file", "c3", path="fresh.txt", content="new")),
        step("Done."),
    )
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await turn(editor, session)
        cards = Shown(editor, session).cards
    patches = [cards[card]["content"][0]["patch"]["text"] for card in ("c1", "c2", "c3")]
    root = tmp_path / "elsewhere"
    copy = root / str(path).lstrip("/")
    copy.parent.mkdir(parents=True)
    copy.write_text(before)
    for patch in patches:
        subprocess.run(["git", "apply", "-"], cwd=root, input=patch, text=True, check=True, timeout=30)
    assert copy.read_text() == path.read_text()
    assert (root / str(draft.project / "fresh.txt").lstrip("/")).read_text() == "new"


async def test_a_command_is_shown_in_its_own_terminal(draft: Scene) -> None:
    line = "echo one; until [ -e go ]; do sleep 0.02; done; echo two; exit 3"
    draft.provider.plays(step(call("terminal", "c1", command=line)), step("Ran."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await editor.call("session/prompt", saying(session))
        await editor.until(lambda: Shown(editor, session).terminals.get("c1", {}).get("text") == "one\n")
        assert Shown(editor, session).of("terminal_output_chunk")
        draft.write("go", "")
        await editor.until(lambda: idles(editor, session))
        shown = Shown(editor, session)
    terminal = shown.terminals["c1"]
    assert (terminal["command"], terminal["cwd"]) == (line, str(draft.project))
    assert terminal["exitStatus"] == {"exitCode": 3}
    assert terminal["text"] == "one\ntwo"
    assert shown.cards["c1"]["content"] == [{"type": "terminal", "terminalId": "c1"}]


async def test_a_rejected_command_has_a_card_and_no_terminal(draft: Scene) -> None:
    draft.provider.plays(step(call("terminal", "c1", command="sh -c true")), step("Then not."))
    async with drafter(draft) as editor:
        editor.on[ASK] = allow("reject_once")
        session = await new_session(draft, editor)
        await turn(editor, session)
        shown = Shown(editor, session)
    assert shown.statuses("c1") == ["pending", "failed"]
    assert "refused" in shown.cards["c1"]["content"][0]["content"]["text"]
    assert shown.cards["c1"]["_meta"] == {"hermes": {"rejected": {"comment": ""}}}
    assert shown.terminals == {}


async def test_cancelling_ends_the_turn_and_its_command(draft: Scene) -> None:
    draft.provider.plays(step(call("terminal", "c1", command="echo here; sleep 600")), step("Again."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await editor.call("session/prompt", saying(session))
        await editor.until(lambda: "here" in Shown(editor, session).terminals.get("c1", {}).get("text", ""))
        editor.cancel(session)
        await editor.until(lambda: idles(editor, session))
        shown = Shown(editor, session)
        assert idles(editor, session)[-1]["stopReason"] == "cancelled"
        assert shown.statuses("c1")[-1] == "cancelled"
        assert "exitStatus" in shown.terminals["c1"]
        assert (await turn(editor, session))["stopReason"] == "end_turn"


async def test_cancelling_withdraws_the_question(draft: Scene) -> None:
    draft.provider.plays(step(call("terminal", "c1", command="sh -c true")))

    async def never(params: Json) -> None:
        await anyio.sleep_forever()

    async with drafter(draft) as editor:
        editor.on[ASK] = never
        session = await new_session(draft, editor)
        await editor.call("session/prompt", saying(session))
        await editor.until(lambda: editor.asks(ASK))
        editor.cancel(session)
        await editor.until(lambda: idles(editor, session) and editor.given_up)
        assert idles(editor, session)[-1]["stopReason"] == "cancelled"
        assert Shown(editor, session).states[-2:] == ["requires_action", "idle"]


async def test_a_second_prompt_is_answered_when_its_turn_starts(draft: Scene) -> None:
    pause = Pause()
    draft.provider.plays(step("One", pause, "."), step("Two."))
    answers: dict[str, str] = {}
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)

        async def ask(text: str) -> None:
            answers[text] = (await editor.call("session/prompt", saying(session, text)))["messageId"]

        await ask("go")
        await pause.reached.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "on")
            await editor.until(lambda: Shown(editor, session).of("notice"))
            assert "on" not in answers
            pause.go.set()
        await editor.until(lambda: len(idles(editor, session)) == 2)
        shown = Shown(editor, session)
    assert [shown.words["user_message", answers[text]] for text in ("go", "on")] == ["go", "on"]
    assert shown.states == ["running", "idle", "running", "idle"]


async def test_cancelling_rejects_a_queued_prompt(draft: Scene) -> None:
    pause = Pause()
    draft.provider.plays(step("One", pause))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await editor.call("session/prompt", saying(session))
        await pause.reached.wait()

        async def wait_in_vain() -> None:
            assert (await editor.refusal("session/prompt", saying(session, "on"))).code == CANCELLED

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(wait_in_vain)
            await editor.until(lambda: Shown(editor, session).of("notice"))
            editor.cancel(session)
        await editor.until(lambda: idles(editor, session))
        assert Shown(editor, session).said("user_message") == ["go"]


async def test_a_failure_after_the_acceptance_is_reported_by_the_state(draft: Scene) -> None:
    draft.provider.plays(step(ModelRefused("The endpoint refused this.")), step("Again."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        end = await turn(editor, session)
        assert end["stopReason"] == "error"
        assert end["error"]["code"] == INTERNAL_ERROR
        assert end["error"]["data"] == {"code": "model_refused"}
        assert (await turn(editor, session))["stopReason"] == "end_turn"


async def test_a_failure_before_the_acceptance_is_an_error(draft: Scene) -> None:
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await editor.call("auth/logout", {})
        assert (await editor.refusal("session/prompt", saying(session))).code == AUTH_REQUIRED
        assert (await editor.refusal("session/prompt", saying(session, " "))).code == INVALID_PARAMS
        unknown = await editor.refusal("session/prompt", saying("ses_none"))
        assert unknown.code == NOT_FOUND
        assert unknown.data == {"code": "not_found", "sessionId": "ses_none"}
        assert Shown(editor, session).states == []


async def test_a_slash_command_is_a_turn_too(draft: Scene) -> None:
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        answer = await editor.call("session/prompt", saying(session, "/status"))
        await editor.until(lambda: idles(editor, session))
        shown = Shown(editor, session)
        assert shown.words["user_message", answer["messageId"]] == "/status"
        assert shown.states == ["running", "idle"]
        assert "Model" in shown.said("agent_message")[0]


async def test_the_text_of_a_failed_step_is_withdrawn(draft: Scene) -> None:
    broken = ModelUnavailable("Broken.", retryable=True)
    draft.provider.plays(step(ScriptedThought("Hm."), "Wro", broken), step("Right."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await turn(editor, session)
        shown = Shown(editor, session)
    assert shown.said("agent_message") == ["Right."]
    assert shown.said("agent_thought") == []


async def test_a_full_disk_is_reported_by_the_state(draft: Scene) -> None:
    pause = Pause()
    draft.provider.plays(step("One", pause, "."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await editor.call("session/prompt", saying(session))
        await pause.reached.wait()
        fill_disk_under(draft.record_of(session))
        pause.go.set()
        await editor.until(lambda: idles(editor, session))
        end = idles(editor, session)[-1]
        assert end["stopReason"] == "error"
        assert end["error"]["data"] == {"code": "storage_trouble"}
        again = await editor.refusal("session/prompt", saying(session))
        assert again.data == {"code": "storage_trouble"}


async def test_a_prompt_cancelled_by_its_id_is_not_accepted(draft: Scene) -> None:
    pause = Pause()
    draft.provider.plays(step("One", pause, "."), step("Two."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await editor.call("session/prompt", saying(session))
        await pause.reached.wait()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(editor.call, "session/prompt", saying(session, "on"))
            await editor.until(lambda: Shown(editor, session).of("notice"))
            tasks.cancel_scope.cancel()
        pause.go.set()
        await editor.until(lambda: idles(editor, session))
        assert (await turn(editor, session, "next"))["stopReason"] == "end_turn"
        assert Shown(editor, session).said("user_message") == ["go", "next"]


async def test_a_client_that_leaves_during_a_turn_finds_it_ended(draft: Scene) -> None:
    pause = Pause()
    draft.provider.plays(step("One", pause))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)
        await editor.call("session/prompt", saying(session))
        await pause.reached.wait()
    async with drafter(draft) as editor:
        await editor.call("session/resume", resuming(draft, session, replayFrom={"type": "start"}))
        shown = Shown(editor, session)
    assert shown.said("agent_message") == ["One"]
    assert shown.states == ["idle"]


async def test_a_cancel_sent_right_after_its_prompt_cancels_it(draft: Scene) -> None:
    draft.provider.plays(step("One."))
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)

        async def ask() -> None:
            assert (await editor.refusal("session/prompt", saying(session))).code == CANCELLED

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.lowlevel.checkpoint()
            editor.cancel(session)
        assert (await turn(editor, session, "next"))["stopReason"] == "end_turn"
        assert Shown(editor, session).said("user_message") == ["next"]
    assert plain_history(draft.provider.requests[0])[-1] == "user: next"


async def test_a_close_sent_right_after_its_prompt_ends_it(draft: Scene) -> None:
    async with drafter(draft) as editor:
        session = await new_session(draft, editor)

        async def ask() -> None:
            assert (await editor.refusal("session/prompt", saying(session))).code == CANCELLED

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await anyio.lowlevel.checkpoint()
            await editor.call("session/close", {"sessionId": session})
    assert draft.provider.requests == []
