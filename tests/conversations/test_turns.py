"""Turns as an editor sees them."""

import anyio
import pytest

from hermes_acp.core.errors import ModelUnavailable
from hermes_acp.core.messages import ModelRequest
from hermes_protocol.errors import INTERNAL_ERROR
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import ShownSession
from tests.conversations.scripted_provider import Pause, ScriptedThought, Step, call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio


async def test_a_full_turn_from_the_thought_to_the_end(scene: Scene) -> None:
    path = scene.write("greeting.txt", "hello\n")
    entries = [{"content": "look", "status": "in_progress"}, {"content": "change"}]
    scene.provider.plays(
        step(ScriptedThought("First I look."), "Looking. ", call("plan", "c1", entries=entries)),
        step(call("read_file", "c2", path="greeting.txt")),
        step("Changing.", call("edit_file", "c3", path="greeting.txt", old_text="hello", new_text="goodbye")),
        step(call("terminal", "c4", command="cat greeting.txt")),
        step("It says goodbye."),
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, "Say goodbye instead") == "end_turn"
        reported = ShownSession(editor, session)
    assert reported.thoughts == "First I look."
    assert reported.text == "Looking. Changing.It says goodbye."
    assert [entry["content"] for entry in reported.of("plan")[0]["entries"]] == ["look", "change"]
    assert [card["kind"] for card in reported.cards.values()] == ["think", "read", "edit", "execute"]
    assert reported.statuses("c3") == ["pending", "in_progress", "completed"]
    diff = {"type": "diff", "path": str(path), "oldText": "hello\n", "newText": "goodbye\n"}
    assert diff in reported.cards["c3"]["content"]
    assert [ask["toolCall"]["toolCallId"] for ask in editor.asks("session/request_permission")] == ["c3"]
    assert editor.asks("session/request_permission")[0]["toolCall"]["content"][0] == diff
    assert path.read_text(encoding="utf-8") == "goodbye\n"
    assert reported.cards["c4"]["rawOutput"]["exit_code"] == 0
    assert "goodbye" in reported.cards["c4"]["rawOutput"]["text"]
    assert reported.of("session_info_update")[0]["title"] == "Say goodbye instead"
    assert reported.of("usage_update")[-1]["used"] == 15


async def test_nothing_about_a_session_is_sent_before_its_answer_or_after_its_turn(scene: Scene) -> None:
    scene.provider.plays(step("One ", "two ", "three."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.until(lambda: editor.updates)
        await editor.prompt(session)
        again = await editor.call("session/list", {})
    frames = [frame for side, frame in editor.laws.frames if side == "agent"]
    kinds = [frame.get("params", {}).get("update", {}).get("sessionUpdate") or "answer" for frame in frames]
    assert kinds[:2] == ["answer", "answer"]
    assert "available_commands_update" in kinds[2:5]
    assert kinds.index("agent_message_chunk") < kinds.index("answer", 3)
    assert "agent_message_chunk" not in kinds[kinds.index("answer", 3) :]
    assert [each["sessionId"] for each in again["sessions"]] == [session]


async def test_the_prompt_is_not_echoed(scene: Scene) -> None:
    scene.provider.plays(step("Yes."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert ShownSession(editor, session).of("user_message_chunk") == []


async def test_a_second_prompt_waits_for_the_first_and_is_answered(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step("First.", pause), step("Second."))
    ends: list[str] = []
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)

        async def ask(text: str) -> None:
            ends.append(f"{text}: {await editor.prompt(session, text)}")

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, "one")
            await pause.reached.wait()
            tasks.start_soon(ask, "two")
            await editor.call("session/list", {})
            assert len(scene.provider.requests) == 1
            pause.go.set()
    assert ends == ["one: end_turn", "two: end_turn"]
    expected = ["user: one", "assistant: First.", "user: two"]
    assert plain_history(scene.provider.requests[1]) == expected


async def test_ten_sessions_are_served_concurrently(scene: Scene) -> None:
    meeting = Pause()
    names: list[str] = []

    def answer(request: ModelRequest) -> Step:
        names.append(plain_history(request)[0])
        if len(names) == 10:
            meeting.reached.set()
        return step("I am here.", meeting)

    scene.provider.answer = answer
    async with scene.editor() as editor:
        sessions = [await editor.new_session(scene.project) for _ in range(10)]
        ends: list[str] = []

        async def ask(session: str) -> None:
            ends.append(await editor.prompt(session, f"I am {session}"))

        async with anyio.create_task_group() as tasks:
            for session in sessions:
                tasks.start_soon(ask, session)
            await editor.until(lambda: len(names) == 10)
            assert scene.provider.streams_open == 10
            meeting.go.set()
        assert ends == ["end_turn"] * 10
        assert sorted(names) == sorted(f"user: I am {session}" for session in sessions)
        assert all(ShownSession(editor, session).text == "I am here." for session in sessions)


async def test_slash_commands_are_answered_without_the_model(scene: Scene) -> None:
    scene.write("AGENTS.md", "Be brief.\n")
    scene.provider.plays(step("Fine."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.until(lambda: ShownSession(editor, session).of("available_commands_update"))
        offered = ShownSession(editor, session).of("available_commands_update")[0]["availableCommands"]
        assert [command["name"] for command in offered] == [
            *("status", "cost", "config", "context", "skills", "compact", "undo", "redo", "trust"),
            *(
                "permissions",
                "memory",
                "board",
                "answer",
                "park",
                "export",
                "take",
                "digest",
                "init",
                "shell",
            ),
        ]
        assert await editor.prompt(session, "/status") == "end_turn"
        assert "scripted-1" in ShownSession(editor, session).text
        seen = len(editor.updates)
        assert await editor.prompt(session, " /context ") == "end_turn"
        assert "AGENTS.md" in ShownSession(editor, session, seen).text
        assert scene.provider.requests == []
        await editor.prompt(session, "/unknown thing")
        assert plain_history(scene.provider.requests[0]) == ["user: /unknown thing"]


async def test_the_local_folder_is_not_context_for_a_remote_session(scene: Scene) -> None:
    scene.write("AGENTS.md", "Speak like a canary.")
    scene.configure("backend: ssh\nssh: {host: far.invalid}\n")
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session, "/status")
        seen = len(editor.updates)
        await editor.prompt(session, "/context")
        assert (
            "on the backend ssh, so no context files are loaded" in ShownSession(editor, session, seen).text
        )


async def test_a_turn_stops_at_its_step_limit(scene: Scene) -> None:
    scene.overrides |= {"budget.max_steps": 2, "budget.max_refunds": 1}

    def answer(request: ModelRequest) -> Step:
        number = len(request.messages)
        return step(call("list_files", f"c{number}")) if request.tools else step("That is all I saw.")

    scene.provider.answer = answer
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "max_turn_requests"
        reported = ShownSession(editor, session)
    assert [bool(request.tools) for request in scene.provider.requests] == [True, True, True, False]
    assert "The budget of this turn is used up" in plain_history(scene.provider.requests[-1])[-1]
    assert reported.text == "That is all I saw."
    assert "Stopped after 2 steps" in reported.thoughts


async def test_a_looping_model_is_warned_and_then_stopped_with_an_error(scene: Scene) -> None:
    scene.provider.answer = lambda request: step(call("read_file", f"c{len(request.messages)}", path="none"))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        error = await editor.prompt_refusal(session)
        assert (error.code, error.data) == (INTERNAL_ERROR, {"code": "looping"})
        assert "the same call of read_file 5 times" in error.message
        assert "Do not make it again" in plain_history(scene.provider.requests[3])[-1]
        scene.provider.answer = lambda request: step("Better now.")
        assert await editor.prompt(session) == "end_turn"


async def test_a_model_that_makes_only_invalid_calls_is_stopped_with_an_error(scene: Scene) -> None:
    for replies, code in (([step(call("no_such_tool"))] * 3, "bad_calls"), ([step("")] * 3, "empty")):
        scene.provider.plays(*replies)
        async with scene.editor() as editor:
            session = await editor.new_session(scene.project)
            error = await editor.prompt_refusal(session)
            assert (error.code, error.data) == (INTERNAL_ERROR, {"code": code})


async def test_cancelling_during_the_final_call_is_a_cancellation(scene: Scene) -> None:
    scene.overrides |= {"budget.max_steps": 1, "budget.max_refunds": 0}
    pause = Pause()
    scene.provider.plays(step(call("list_files")), step("All I", pause))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        ends: list[str] = []

        async def ask() -> None:
            ends.append(await editor.prompt(session))

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await pause.reached.wait()
            editor.cancel(session)
    assert ends == ["cancelled"]


async def test_the_usage_of_a_turn_is_recorded(scene: Scene) -> None:
    scene.provider.plays(step(call("list_files")), step("Fine."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
    ended = scene.record_of(session).read_text(encoding="utf-8").splitlines()[-1]
    assert '"turn_ended"' in ended
    assert '"steps":2' in ended
    assert '"input_tokens":20' in ended


async def test_a_truncated_or_declined_answer_ends_with_its_own_reason(scene: Scene) -> None:
    scene.provider.plays(step("Once upon", finish="length"), step(finish="refusal"))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "max_tokens"
        assert await editor.prompt(session) == "refusal"


async def test_notices_are_sent_only_to_clients_that_support_them(scene: Scene) -> None:
    takers: tuple[tuple[Json, str], ...] = (
        ({}, "agent_thought_chunk"),
        ({"session": {"notices": {}}}, "notice"),
    )
    for capabilities, kind in takers:
        scene.provider.plays(step(ModelUnavailable("The line is dead.", retryable=True)), step("Back."))
        async with scene.editor(**capabilities) as editor:
            session = await editor.new_session(scene.project)
            assert await editor.prompt(session) == "end_turn"
            reported = ShownSession(editor, session)
            assert "The line is dead." in str(reported.of(kind))
            assert (reported.of("notice") == []) is (kind != "notice")


async def test_a_key_in_a_commands_output_reaches_nobody(scene: Scene) -> None:
    scene.variables["OPENAI_API_KEY"] = "sk-canary-123456"
    scene.write("notes.txt", "the key is sk-canary-123456\n")
    scene.provider.plays(
        step(call("terminal", "c1", command="cat notes.txt"), call("read_file", "c2", path="notes.txt")),
        step("Fine."),
    )
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert "canary" not in str(editor.updates)
    assert "canary" not in scene.record_of(session).read_text()
    assert "canary" not in str(plain_history(scene.provider.requests[1]))
    assert "[secret removed]" in plain_history(scene.provider.requests[1])[-1]
