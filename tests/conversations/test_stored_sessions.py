"""Leaving a session and resuming it."""

from pathlib import Path

import anyio
import pytest

from hermes_acp.core.messages import ModelRequest
from hermes_protocol.errors import INVALID_REQUEST
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import Pause, ScriptedThought, Step, call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio


def reopening(scene: Scene, session: str) -> Json:
    return {"sessionId": session, "cwd": str(scene.project), "mcpServers": []}


async def play_a_session(scene: Scene, editor: FakeEditor) -> str:
    scene.write("a.txt", "one\n")
    scene.provider.plays(
        step(
            ScriptedThought("Hm"),
            ScriptedThought("m."),
            "Let ",
            "me ",
            "see.",
            call("read_file", "c1", path="a.txt"),
        ),
        step(call("read_file", "c2", path="none.txt")),
        step(call("plan", "c3", entries=[{"content": "edit"}])),
        step(call("edit_file", "c4", path="a.txt", old_text="one", new_text="two")),
        step("All done."),
    )
    session = await editor.new_session(scene.project)
    await editor.prompt(session, "Count on")
    return session


def shown(reported: ShownSession) -> list[str]:
    """Render a session as a client shows it: one line per message or card."""
    lines: list[str] = []
    for update in reported.updates:
        kind = update["sessionUpdate"]
        if kind in ("user_message_chunk", "agent_message_chunk", "agent_thought_chunk"):
            lines.append(f"{kind}: {update['content']['text']}")
        elif kind in ("tool_call", "tool_call_update"):
            lines.append(f"{update['toolCallId']} {update['status']}")
        elif kind == "plan":
            lines.append(f"plan: {len(update['entries'])}")
    return lines


async def test_a_session_is_replayed_in_order_and_then_answered(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await play_a_session(scene, editor)
        live = ShownSession(editor, session)
    async with scene.editor() as editor:
        answer = await editor.call("session/load", reopening(scene, session))
        reported = ShownSession(editor, session)
        assert answer["modes"]["currentModeId"] == "ask"
        assert shown(reported) == [
            "user_message_chunk: Count on",
            "agent_thought_chunk: Hmm.",
            "agent_message_chunk: Let me see.",
            "c1 pending",
            "c1 in_progress",
            "c1 completed",
            "c2 pending",
            "c2 in_progress",
            "c2 failed",
            "c3 pending",
            "c3 in_progress",
            "plan: 1",
            "c3 completed",
            "c4 pending",
            "c4 in_progress",
            "c4 completed",
            "agent_message_chunk: All done.",
        ]
        assert reported.cards["c4"]["content"] == live.cards["c4"]["content"]
        scene.provider.plays(step("And on."))
        await editor.prompt(session, "Go on")
    before, after = scene.provider.requests[4], scene.provider.requests[5]
    assert after.system == before.system
    assert after.messages[: len(before.messages)] == before.messages
    assert plain_history(after)[-2:] == ["assistant: All done.", "user: Go on"]


async def test_a_resumed_session_is_not_replayed(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await play_a_session(scene, editor)
    async with scene.editor() as editor:
        await editor.call("session/resume", reopening(scene, session))
        assert shown(ShownSession(editor, session)) == []
        scene.provider.plays(step("And on."))
        await editor.prompt(session, "Go on")
        assert ShownSession(editor, session).text == "And on."
    assert len(scene.provider.requests[4].messages) > len(scene.provider.requests[3].messages)


async def test_a_resumed_session_reports_how_full_its_window_is(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await play_a_session(scene, editor)
        last = ShownSession(editor, session).of("usage_update")[-1]
        fresh = await editor.new_session(scene.project)
    async with scene.editor() as editor:
        await editor.call("session/resume", reopening(scene, fresh))
        await editor.call("session/resume", reopening(scene, session))
        await editor.call("session/list", {})
        assert ShownSession(editor, session).of("usage_update") == [last]
        assert ShownSession(editor, fresh).of("usage_update") == []


async def test_loading_an_open_session_replays_it_once(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await play_a_session(scene, editor)
        seen = len(editor.updates)
        await editor.call("session/load", reopening(scene, session))
        assert shown(ShownSession(editor, session, seen))[-1] == "agent_message_chunk: All done."
        scene.provider.plays(step("Once."))
        await editor.prompt(session)
        assert ShownSession(editor, session, seen).text.count("Once.") == 1


async def test_terminals_are_not_replayed(scene: Scene) -> None:
    scene.provider.plays(step(call("terminal", "c1", command="make")), step("Made."))
    async with scene.editor(terminal=True) as editor:
        editor.on.update(
            {
                "terminal/create": lambda params: {"terminalId": "term-1"},
                "terminal/wait_for_exit": lambda params: {"exitCode": 0},
                "terminal/output": lambda params: {"output": "made it\n", "truncated": False},
                "terminal/release": lambda params: {},
            }
        )
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert "term-1" in str(ShownSession(editor, session).updates)
    async with scene.editor(terminal=True) as editor:
        await editor.call("session/load", reopening(scene, session))
        assert "term-1" not in str(ShownSession(editor, session).updates)
        assert "made it" in str(ShownSession(editor, session).cards["c1"]["content"])


def cut_behind(record: Path, mark: bytes, more: bytes = b"") -> None:
    """Leave a record like that of a process killed right after an event."""
    content = record.read_bytes()
    end = content.index(b"\n", content.index(mark)) + 1
    record.write_bytes(content[:end] + more)


async def test_a_session_killed_before_it_had_a_title_is_listed_by_its_first_prompt(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await play_a_session(scene, editor)
    cut_behind(scene.record_of(session), b'"user_said"')
    (scene.home / "index.db").unlink()
    async with scene.editor() as editor:
        for _ in range(2):
            (listed,) = (await editor.call("session/list", {}))["sessions"]
            assert (listed["sessionId"], listed["title"]) == (session, "Count on")
            more: Json = {"additionalDirectories": [str(scene.home)]}
            await editor.call("session/load", reopening(scene, session) | more)


async def test_calls_left_open_by_a_killed_process_are_closed_and_reported(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await play_a_session(scene, editor)
    cut_behind(scene.record_of(session), b'"call_started","call_id":"c4"')
    async with scene.editor() as editor:
        await editor.call("session/load", reopening(scene, session))
        reported = ShownSession(editor, session)
        assert reported.cards["c4"]["status"] == "failed"
        assert "may have taken effect" in str(reported.cards["c4"]["content"])
        assert "process ended during this turn" in reported.thoughts
        scene.provider.plays(step("I look first."))
        await editor.prompt(session, "Go on")
    assert plain_history(scene.provider.requests[-1])[-2].startswith("edit_file: The process ended")
    async with scene.editor() as editor:
        await editor.call("session/load", reopening(scene, session))
        assert ShownSession(editor, session).cards["c4"]["status"] == "failed"
        assert "process ended" not in ShownSession(editor, session).thoughts


async def test_a_torn_tail_is_cut_off_kept_and_reported(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await play_a_session(scene, editor)
    record = scene.record_of(session)
    cut_behind(
        record, b'"call_id":"c1","name":"read_file","status"', more=b'{"crc":12,"event":{"type":"text_s'
    )
    async with scene.editor(session={"notices": {}}) as editor:
        await editor.call("session/load", reopening(scene, session))
        reported = ShownSession(editor, session)
        assert reported.cards["c1"]["status"] == "completed"
        assert "torn" in str(reported.of("notice"))
        scene.provider.plays(step("On."))
        assert await editor.prompt(session) == "end_turn"
    assert record.with_suffix(".torn").read_bytes() == b'{"crc":12,"event":{"type":"text_s'


async def test_two_processes_with_one_home_do_not_share_a_session(scene: Scene) -> None:
    scene.provider.plays(step("One."), step("Two."), step("Three."))
    async with scene.editor() as first, scene.editor() as second:
        session = await first.new_session(scene.project)
        await first.prompt(session)
        error = await second.refusal("session/load", reopening(scene, session))
        assert (error.code, error.data) == (INVALID_REQUEST, {"code": "busy"})
        assert "another hermes-acp process" in error.message
        assert await second.prompt(await second.new_session(scene.project)) == "end_turn"
        await first.call("session/close", {"sessionId": session})
        await second.call("session/load", reopening(scene, session))
        assert await second.prompt(session) == "end_turn"
        for editor in (second, first):  # Each process sees the other's changes when it lists sessions.
            assert len((await editor.call("session/list", {}))["sessions"]) == 2


@pytest.mark.slow
async def test_many_sessions_are_listed_newest_first_page_by_page(scene: Scene) -> None:
    other = scene.project / "other"
    other.mkdir()
    async with scene.editor() as editor:
        made: list[str] = []
        for number in range(120):
            made.append(await editor.new_session(other if number % 3 == 0 else scene.project))
            scene.provider.plays(step("Done."))
            await editor.prompt(made[-1])
            await editor.call("session/close", {"sessionId": made[-1]})
        pages = [page async for page in pages_of(editor, {})]
        assert [len(page) for page in pages] == [50, 50, 20]
        listed = [each["sessionId"] for page in pages for each in page]
        assert sorted(listed) == sorted(made)
        times = [each["updatedAt"] for page in pages for each in page]
        assert times == sorted(times, reverse=True)
        mine = [
            each for page in [page async for page in pages_of(editor, {"cwd": str(other)})] for each in page
        ]
        assert len(mine) == 40
        assert {each["cwd"] for each in mine} == {str(other)}
        assert len((await editor.call("session/list", {"cwd": f"{other}/"}))["sessions"]) == 40
        assert (await editor.call("session/list", {"cwd": "/nowhere"}))["sessions"] == []


async def pages_of(editor: FakeEditor, filters: Json):
    cursor: Json = {}
    while True:
        page = await editor.call("session/list", {**filters, **cursor})
        yield page["sessions"]
        if not page.get("nextCursor"):
            return
        cursor = {"cursor": page["nextCursor"]}


async def test_a_list_survives_the_loss_of_its_index_and_an_invalid_record(scene: Scene) -> None:
    async with scene.editor() as editor:
        session = await play_a_session(scene, editor)
    (scene.home / "index.db").write_bytes(b"this is no database " * 100)
    scene.record_of("ses_empty").write_bytes(b"")
    scene.record_of("ses_noise").write_bytes(b"\xff\xfe noise\n")
    scene.record_of("ses_folder").mkdir()
    async with scene.editor() as editor:
        listed = (await editor.call("session/list", {}))["sessions"]
        assert [(each["sessionId"], each["title"]) for each in listed] == [(session, "Count on")]


async def test_an_invalid_record_is_rejected_and_left_as_it_is(scene: Scene) -> None:
    async with scene.editor() as editor:
        await editor.new_session(scene.project)
        scene.record_of("ses_noise").write_bytes(b"noise\nmore noise\n")
        error = await editor.refusal("session/load", reopening(scene, "ses_noise"))
        assert error.data == {"code": "storage_trouble"}
        assert scene.record_of("ses_noise").read_bytes() == b"noise\nmore noise\n"


async def test_a_long_session_is_replayed_completely(scene: Scene) -> None:
    def answer(request: ModelRequest) -> Step:
        number = len(request.messages)
        entries = [{"content": f"look at {number}"}]
        return step(*(f"w{number} " for number in range(50)), call("plan", f"c{number}", entries=entries))

    scene.provider.answer = answer
    scene.overrides |= {"budget.max_steps": 99, "budget.max_refunds": 0}
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "max_turn_requests"
        text = ShownSession(editor, session).text
    async with scene.editor() as editor:
        await editor.call("session/load", reopening(scene, session))
        reported = ShownSession(editor, session)
        assert reported.text == text
        assert len(reported.of("agent_message_chunk")) == 100


async def test_a_client_that_leaves_during_a_turn_finds_it_ended(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step("So far ", pause, "so good."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(prompt_until_gone, editor, session)
            await pause.reached.wait()
            await editor.connection.aclose()
    async with scene.editor() as editor:
        await editor.call("session/load", reopening(scene, session))
        assert ShownSession(editor, session).text == "So far "
        scene.provider.plays(step("Again."))
        assert await editor.prompt(session) == "end_turn"


async def prompt_until_gone(editor: FakeEditor, session: str) -> None:
    with pytest.raises(Exception, match="session/prompt"):
        await editor.prompt(session)
