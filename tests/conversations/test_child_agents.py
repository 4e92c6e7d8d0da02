"""Child agents as an editor sees them: one card, one user to ask, and nothing left over."""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import ModelUnavailable
from hermes_acp.core.events import ChildChanged
from hermes_acp.core.messages import ModelRequest, TextPart, ToolMessage, UserMessage
from hermes_acp.core.record.child_outcomes import UNLISTED
from hermes_acp.core.record.compacted_history import TAG
from hermes_acp.storage.transcript import Transcript
from hermes_protocol.errors import INTERNAL_ERROR
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import FakeEditor, ShownSession, allow
from tests.conversations.scripted_provider import Pause, ScriptedThought, Step, Usage, call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"
Plays = Callable[[ModelRequest], Step]


def delegates(scene: Scene, *children: tuple[str, Plays]) -> None:
    """Have the agent delegate in its first step, and each child play the replies for its title."""
    plays = dict(children)
    tasks = [{"title": title.capitalize(), "instructions": title} for title in plays]

    def answer(request: ModelRequest) -> Step:
        said = request.messages[0]
        assert isinstance(said, UserMessage)
        part = said.parts[0]
        assert isinstance(part, TextPart)
        if part.text in plays:
            return plays[part.text](request)
        has_delegated = any(isinstance(message, ToolMessage) for message in request.messages)
        return step("All in.") if has_delegated else step(call("delegate", "d1", tasks=tasks))

    scene.provider.answer = answer


def says(*beats: str | Pause) -> Plays:
    return lambda request: step(*beats)


def first(played: Step, *, then: str = "Did it.") -> Plays:
    """Do something, then answer."""

    def answer(request: ModelRequest) -> Step:
        return step(then) if any(isinstance(m, ToolMessage) for m in request.messages) else played

    return answer


def writes(name: str) -> Step:
    return step(call("write_file", "w1", path=name, content="new\n"))


def outcome(reported: ShownSession) -> str:
    return reported.cards["d1"]["rawOutput"]["text"]


def records_of(scene: Scene, session: str) -> list[Path]:
    return sorted((scene.home / "sessions" / session).glob("*.jsonl"))


@asynccontextmanager
async def prompted(scene: Scene, editor: FakeEditor) -> AsyncGenerator[str]:
    session = await editor.new_session(scene.project)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(editor.prompt, session)
        yield session


async def test_children_work_concurrently_and_show_what_they_do(scene: Scene) -> None:
    left, right = Pause(), Pause()
    delegates(
        scene,
        ("left", says("Going left.\n", left, "It is left.")),
        ("right", says("So.\n", right, "Right it is.")),
    )
    async with scene.editor() as editor:
        async with prompted(scene, editor) as session:
            await left.reached.wait()
            await right.reached.wait()
            await editor.until(
                lambda: "1. Left: step 1" in str(ShownSession(editor, session).cards["d1"].get("content"))
            )
            board = str(ShownSession(editor, session).cards["d1"]["content"])
            left.go.set()
            right.go.set()
        reported = ShownSession(editor, session)
        assert "Going left." in board
        assert outcome(reported) == "## 1. Left\nGoing left.\nIt is left.\n\n## 2. Right\nSo.\nRight it is."
        assert list(reported.cards) == ["d1"]
        assert reported.text == "All in."
        assert reported.cards["d1"]["title"] == "Delegate: Left; Right"


async def test_the_number_of_concurrent_children_is_limited(scene: Scene) -> None:
    scene.configure("delegation: {max_parallel: 1}\n")
    pause = Pause()
    delegates(scene, ("one", says(pause, "One.")), ("two", says("Two.")))
    async with scene.editor() as editor:
        async with prompted(scene, editor) as session:
            await pause.reached.wait()
            await editor.until(
                lambda: "waiting" in str(ShownSession(editor, session).cards["d1"].get("content"))
            )
            assert len(records_of(scene, session)) == 1
            pause.go.set()
        assert "Two." in outcome(ShownSession(editor, session))
        assert len(records_of(scene, session)) == 2


async def test_a_child_that_fails_is_an_outcome(scene: Scene) -> None:
    delegates(scene, ("bad", lambda request: step(ModelUnavailable("Gone."))), ("good", says("Good.")))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        reported = ShownSession(editor, session)
        assert outcome(reported) == "## 1. Bad\n[The child agent did not finish: Gone.]\n\n## 2. Good\nGood."
        assert reported.cards["d1"]["status"] == "completed"


async def test_a_childs_question_has_its_own_card_that_names_the_child(scene: Scene) -> None:
    delegates(scene, ("quiet", says("Nothing to do.")), ("writer", first(writes("a"))))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        (ask,) = editor.asks(ASK)
        reported = ShownSession(editor, session)
        own = ask["toolCall"]["toolCallId"]
        assert (ask["sessionId"], ask["toolCall"]["title"]) == (session, "Writer: Create a")
        assert list(reported.cards) == ["d1", own]
        assert reported.statuses(own) == ["pending", "in_progress", "completed"]
        assert (scene.project / "a").read_text() == "new\n"


async def test_a_permanent_answer_applies_to_the_other_children_and_the_parent(scene: Scene) -> None:
    delegates(scene, ("one", first(writes("a"))), ("two", first(writes("a"))))
    scene.configure("delegation: {max_parallel: 1}\n")
    async with scene.editor() as editor:
        editor.on[ASK] = allow("allow_always")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert len(editor.asks(ASK)) == 1
        scene.provider.answer = first(writes("a"))
        scene.provider.answer = None
        scene.provider.plays(writes("a"), step("Once more."))
        await editor.prompt(session)
        assert len(editor.asks(ASK)) == 1
    async with scene.editor() as editor:
        await editor.call("session/load", reopening(scene, session))
        assert "## 2. Two\nDid it." in outcome(ShownSession(editor, session))
        scene.provider.plays(writes("a"), step("And again."))
        await editor.prompt(session)
        assert editor.asks(ASK) == []


async def test_a_rejection_is_reported_only_to_the_child(scene: Scene) -> None:
    delegates(scene, ("writer", first(writes("a"), then="I was not allowed.")))
    async with scene.editor() as editor:
        editor.on[ASK] = allow("reject_once")
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert outcome(ShownSession(editor, session)) == "## 1. Writer\nI was not allowed."
        child = plain_history(scene.provider.requests[-2])
        assert child[-1].startswith("write_file: The user refused this.")


async def test_plan_mode_applies_to_children_as_soon_as_it_is_chosen(scene: Scene) -> None:
    pause = Pause()
    delegates(scene, ("writer", first(step(pause, *writes("a").beats))))
    async with scene.editor() as editor:
        async with prompted(scene, editor) as session:
            await pause.reached.wait()
            await editor.set_mode(session, "plan")
            pause.go.set()
        assert editor.asks(ASK) == []
        assert not (scene.project / "a").exists()


async def test_cancel_reaches_every_child_and_its_processes(scene: Scene) -> None:
    line = "echo $$ > shell; echo sta''rted; sleep 300"
    talking, writing = Pause(), Pause()
    delegates(
        scene,
        ("runner", first(step(call("terminal", "t1", command=line)))),
        ("talker", says("Well, ", talking)),
        ("writer", first(step(writing, *writes("a").beats))),
    )

    async def allow_commands(params: Json) -> Json:
        if params["toolCall"]["name"] != "terminal":
            await anyio.sleep_forever()
        return allow("allow_once")(params)

    async with scene.editor() as editor:
        editor.on[ASK] = allow_commands
        async with prompted(scene, editor) as session:
            await talking.reached.wait()
            await editor.until(lambda: "started" in str(ShownSession(editor, session).cards))
            process_id = int((scene.project / "shell").read_text())
            writing.go.set()
            await editor.until(lambda: len(editor.asks(ASK)) == 2)
            editor.cancel(session)
        reported = ShownSession(editor, session)
        assert not Path(f"/proc/{process_id}").exists()
        assert {card["status"] for card in reported.cards.values()} == {"failed"}
        assert len(reported.cards) == 3
        assert scene.provider.streams_open == 0
        last = [path.read_text().splitlines()[-1] for path in records_of(scene, session)]
        assert len(last) == 3
        assert all('"type":"turn_ended"' in line and '"reason":"cancelled"' in line for line in last)
        scene.provider.answer = says("Here again.")
        assert await editor.prompt(session) == "end_turn"


def reopening(scene: Scene, session: str) -> Json:
    return {"sessionId": session, "cwd": str(scene.project), "mcpServers": []}


def cut_behind(record: Path, mark: bytes) -> None:
    """Leave a record like that of a process killed right after an event."""
    content = record.read_bytes()
    record.write_bytes(content[: content.index(b"\n", content.index(mark)) + 1])


async def test_a_process_killed_during_delegation_leaves_valid_records(scene: Scene) -> None:
    delegates(scene, ("writer", first(writes("a"))))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
    (child,) = records_of(scene, session)
    cut_behind(child, b'"call_started","call_id":"w1"')
    cut_behind(scene.record_of(session), b'"child_changed"')
    async with scene.editor() as editor:
        await editor.call("session/load", reopening(scene, session))
        assert "may have taken effect" in outcome(ShownSession(editor, session))
    events = Transcript.read_events(child)
    assert [type(event).__name__ for event in events[-2:]] == ["CallEnded", "TurnEnded"]
    assert "its outcome is lost" in child.read_text()
    assert '"reason":"cancelled"' in scene.record_of(session).read_text()


async def test_answers_that_existed_when_the_process_was_killed_reach_the_parent(scene: Scene) -> None:
    scene.configure("delegation: {max_parallel: 1}\n")
    delegates(scene, ("quick", says("It is blue.")), ("writer", first(writes("a"))), ("late", says("Late.")))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
    records = {path.read_text().count('"title":"Writer"'): path for path in records_of(scene, session)}
    cut_behind(records[1], b'"call_started","call_id":"w1"')
    cut_behind(scene.record_of(session), b'"child_id":"%b"' % records[1].stem.encode())
    scene.provider.answer = says("I go on.")
    async with scene.editor() as editor:
        await editor.call("session/load", reopening(scene, session))
        reported = outcome(ShownSession(editor, session))
        assert "## 1. Quick\nIt is blue.\n\n## 2. Writer\n[The child agent did not finish" in reported
        assert "check the current state" in reported
        assert "Late" not in reported
        assert reported.endswith(UNLISTED)
        assert await editor.prompt(session, "And?") == "end_turn"
    (history,) = [line for line in plain_history(scene.provider.requests[-1]) if line.startswith("delegate")]
    assert "It is blue." in history


async def test_the_record_of_a_child_whose_end_its_parent_missed_is_trusted(scene: Scene) -> None:
    delegates(scene, ("quick", says("It is blue.")))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
    cut_behind(scene.record_of(session), b'"child_changed"')
    async with scene.editor() as editor:
        await editor.call("session/load", reopening(scene, session))
        assert "## 1. Quick\nIt is blue." in outcome(ShownSession(editor, session))
    ended = [e for e in Transcript.read_events(scene.record_of(session)) if isinstance(e, ChildChanged)]
    assert [event.reason for event in ended] == [None, "done"]


async def test_a_childs_session_is_unlisted_readable_and_deleted_with_its_parent(scene: Scene) -> None:
    delegates(scene, ("scout", says("Found it.")))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        (record,) = records_of(scene, session)
    async with scene.editor(session={"notices": {}}) as editor:
        rows = (await editor.call("session/list", {}))["sessions"]
        assert [row["sessionId"] for row in rows] == [session]
        await editor.call("session/load", reopening(scene, record.stem))
        reported = ShownSession(editor, record.stem)
        assert reported.text == "Found it."
        assert "can be read but not continued" in str(reported.of("notice"))
        refusal = await editor.prompt_refusal(record.stem)
        assert (refusal.code, "record of a child agent" in refusal.message) == (INTERNAL_ERROR, True)
        await editor.call("session/delete", {"sessionId": session})
        assert not record.exists()
        assert not record.parent.exists()


async def test_a_client_that_supports_subagents_is_shown_each_as_a_session(scene: Scene) -> None:
    scene.offer_unstable()
    delegates(
        scene,
        ("writer", first(step(ScriptedThought("Hm."), *writes("a").beats))),
        ("lost", lambda request: step(ModelUnavailable("Gone."))),
    )
    async with scene.editor(subagents={}) as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        states: dict[str, list[str]] = {}
        titles: dict[str, str] = {}
        for update in ShownSession(editor, session).of("subagent_update"):
            child, state = update["sessionId"], update["state"]
            titles[update.get("title", titles.get(child, ""))] = child
            states.setdefault(child, []).append(state["state"] + state.get("stopReason", ""))
        assert states[titles["Writer"]] == ["running", "requires_action", "running", "idleend_turn"]
        assert states[titles["Lost"]] == ["running", "idleerror"]
        reported = ShownSession(editor, titles["Writer"])
        (errand,) = reported.of("session_message")
        assert (errand["senderSessionId"], errand["recipientSessionId"]) == (session, titles["Writer"])
        assert errand["content"][0]["text"] == "writer"
        assert (reported.text, reported.thoughts) == ("Did it.", "Hm.")
        assert reported.cards["w1"]["status"] == "completed"
    async with scene.editor(subagents={}) as editor:
        await editor.call("session/load", reopening(scene, session))
        again = ShownSession(editor, session).of("subagent_update")
        assert [update["state"]["state"] for update in again if update["sessionId"] == titles["Writer"]] == [
            "running",
            "idle",
        ]


async def test_subagents_are_not_reported_to_other_clients(scene: Scene) -> None:
    delegates(scene, ("scout", says("Found it.")))
    async with scene.editor(subagents={}) as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert ShownSession(editor, session).of("subagent_update") == []
        assert {name for name, _ in editor.updates} == {session}


async def test_two_children_that_change_the_same_file_are_checked_against_its_content(scene: Scene) -> None:
    scene.write("a", "one\n")
    early, late = Pause(), Pause()
    read = call("read_file", "r1", path="a")
    edit = call("edit_file", "e1", path="a", old_text="one", new_text="two")
    delegates(
        scene,
        ("early", first(step(early, read, edit))),
        ("late", first(step(late, read, edit), then="It was changed.")),
    )
    async with scene.editor() as editor:
        async with prompted(scene, editor) as session:
            await early.reached.wait()
            await late.reached.wait()
            early.go.set()
            await editor.until(lambda: "Early: done" in str(ShownSession(editor, session).cards["d1"]))
            late.go.set()
        assert (scene.project / "a").read_text() == "two\n"
        assert outcome(ShownSession(editor, session)).endswith("## 2. Late\nIt was changed.")
        assert len(editor.asks(ASK)) == 1


async def test_a_child_whose_window_fills_up_compacts_only_its_own_history(scene: Scene) -> None:
    scene.configure("window_tokens: 4000\n")
    scene.write("a", "alpha beta gamma\n" * 200)
    sums: list[ModelRequest] = []

    def child(request: ModelRequest) -> Step:
        if not any(isinstance(message, ToolMessage) for message in request.messages):
            return Step((call("read_file", "r1", path="a"),), usage=Usage(500, 10))
        return Step((call("list_files", "l1", path="."),), usage=Usage(3900, 10))

    delegates(scene, ("read it", child))
    plain = scene.provider.answer
    assert plain

    def answer(request: ModelRequest) -> Step:
        if not request.tools:
            sums.append(request)
            return step("The file holds three words.")
        has_summary = f"<{TAG}>" in plain_history(request)[0]
        return step("The child is done.") if has_summary else plain(request)

    scene.provider.answer = answer
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, "Delegate") == "end_turn"
        reported = ShownSession(editor, session)
    (record,) = records_of(scene, session)
    assert len(sums) == 1
    assert "The child is done." in outcome(reported)
    assert b"history_compacted" in record.read_bytes()
    assert b"history_compacted" not in scene.record_of(session).read_bytes()
