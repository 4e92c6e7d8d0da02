"""Scripts that call tools in a real interpreter, from the model to the card of each call."""

import base64
import os
from typing import Any

import anyio
import pytest

from hermes_acp.core.messages import ModelRequest, ToolMessage
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import FakeEditor, ShownSession, allow
from tests.conversations.scripted_provider import call, step

pytestmark = pytest.mark.anyio
ASK = "session/request_permission"


def outcome_of(request: ModelRequest) -> str:
    return next(m.text for m in reversed(request.messages) if isinstance(m, ToolMessage))


async def run(scene: Scene, editor: FakeEditor, code: str, **arguments: Any) -> ShownSession:
    scene.provider.plays(step(call("execute_code", "c1", code=code, **arguments)), step("Done."))
    session = await editor.new_session(scene.project)
    assert await editor.prompt(session) == "end_turn"
    return ShownSession(editor, session)


async def test_twelve_calls_need_one_step_and_each_has_its_card(scene: Scene) -> None:
    for number in range(12):
        scene.write(f"{number}.txt", f"number {number}\n")
    code = "print(sum(len(tools.read_file(path=f'{n}.txt')) for n in range(12)) > 100)"
    async with scene.editor() as editor:
        reported = await run(scene, editor, code)
    assert outcome_of(scene.provider.requests[1]) == "True\n[exit code: 0]\n[12 tool calls]"
    assert len(scene.provider.requests) == 2
    cards = [card for name, card in reported.cards.items() if name != "c1"]
    assert [card["title"] for card in cards] == [f"Read {number}.txt" for number in range(12)]
    assert {card["status"] for card in cards} == {"completed"}
    assert {card["_meta"]["hermes"]["within"] for card in cards} == {"c1"}
    assert [ask["toolCall"]["toolCallId"] for ask in editor.asks(ASK)] == ["c1"]
    history = scene.provider.requests[1].messages
    assert sum(isinstance(message, ToolMessage) for message in history) == 1


async def test_an_inner_call_needs_the_same_approval_as_any_other(scene: Scene) -> None:
    code = (
        "try:\n    tools.write_file(path='a', content='x')\nexcept ToolError as e:\n    print('refused:', e)\n"
        "import os; print(os.path.exists('a'))"
    )
    async with scene.editor() as editor:
        answers = iter(("allow_once", "reject_once"))
        editor.on[ASK] = lambda params: allow(next(answers))(params)
        reported = await run(scene, editor, code)
    asked = [ask["toolCall"] for ask in editor.asks(ASK)]
    assert [one["title"] for one in asked] == ["Run a Python script of 5 lines", "Create a"]
    assert asked[1]["toolCallId"] != "c1"
    assert reported.cards[asked[1]["toolCallId"]]["status"] == "failed"
    text = outcome_of(scene.provider.requests[1])
    assert text.startswith("refused: The user refused this.")
    assert "\nFalse\n" in text


async def test_a_tool_that_scripts_may_not_call_is_not_available(scene: Scene) -> None:
    code = "print(sorted(n for n in dir(tools) if n in ('execute_code', 'delegate', 'ask_user', 'search')))"
    async with scene.editor() as editor:
        await run(scene, editor, code)
    assert outcome_of(scene.provider.requests[1]).startswith("['search']\n")


async def test_a_script_sees_no_secrets(scene: Scene) -> None:
    scene.variables["OPENAI_API_KEY"] = "sk-verysecretvalue1234567890abcdef"
    scene.write("notes.txt", "key sk-verysecretvalue1234567890abcdef\n")
    code = (
        "import base64, os\n"
        "print([k for k in os.environ if 'KEY' in k and 'GIT' not in k])\n"
        "print(base64.b64encode(tools.read_file(path='notes.txt').encode()).decode())"
    )
    async with scene.editor() as editor:
        await run(scene, editor, code)
    listed, encoded, *_ = outcome_of(scene.provider.requests[1]).split("\n")
    assert listed == "[]"
    assert b"verysecretvalue" not in base64.b64decode(encoded)


async def test_a_cancel_ends_the_script_its_children_and_its_open_call(scene: Scene) -> None:
    nap = f"4323.{os.getpid()}"  # No other test's.
    code = f"import subprocess\nsubprocess.Popen(['sleep', '{nap}'])\ntools.terminal(command='echo begun; sleep {nap}')"
    scene.provider.plays(step(call("execute_code", "c1", code=code)), step("Done."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)

        async def cancel_once_started() -> None:
            await editor.until(
                lambda: any("begun" in str(update.get("content")) for _, update in editor.updates)
            )
            editor.cancel(session)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(cancel_once_started)
            assert await editor.prompt(session) == "cancelled"
        reported = ShownSession(editor, session)
        assert {card["status"] for card in reported.cards.values()} == {"failed"}
        assert len(reported.cards) == 2
        scene.provider.plays(step("Still here."))
        assert await editor.prompt(session) == "end_turn"
    assert not any(_says(pid, nap.encode()) for pid in os.listdir("/proc") if pid.isdigit())


def _says(pid: str, word: bytes) -> bool:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().split(b"\0")[:2] == [b"sleep", word]
    except OSError:
        return False


async def test_inner_calls_are_shown_again_when_the_session_is_loaded(scene: Scene) -> None:
    scene.write("a.txt", "one\n")
    async with scene.editor() as editor:
        reported = await run(scene, editor, "tools.read_file(path='a.txt')")
        session = editor.updates[0][0]
    async with scene.editor() as editor:
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        again = ShownSession(editor, session)
        assert list(again.cards) == list(reported.cards)
        assert {card["status"] for card in again.cards.values()} == {"completed"}
        scene.provider.plays(step("Going on."))
        assert await editor.prompt(session) == "end_turn"
