"""Commands in the editor's own terminals."""

import anyio
import pytest

from hermes_protocol.errors import INTERNAL_ERROR, PeerError
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio


def play_terminal(editor: FakeEditor, *, exit_code: int | None = 0) -> anyio.Event:
    """Give the editor one terminal; the command ends by itself unless `exit_code` is None."""
    killed = anyio.Event()

    async def wait_for_exit(params: Json) -> Json:
        if exit_code is None:
            await killed.wait()
        return {"exitCode": exit_code, "signal": None}

    def kill(params: Json) -> Json:
        killed.set()
        return {}

    editor.on.update(
        {
            "terminal/create": lambda params: {"terminalId": "term-1"},
            "terminal/wait_for_exit": wait_for_exit,
            "terminal/kill": kill,
            "terminal/output": lambda params: {"output": "two tests passed\n", "truncated": False},
            "terminal/release": lambda params: {},
        }
    )
    return killed


def methods(editor: FakeEditor) -> list[str]:
    return [method for method, _ in editor.asked if method.startswith("terminal/")]


async def test_a_command_runs_in_a_terminal_shown_in_its_card(scene: Scene) -> None:
    scene.provider.plays(step(call("terminal", "c1", command="make test")), step("Passed."))
    async with scene.editor(terminal=True) as editor:
        play_terminal(editor)
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        reported = ShownSession(editor, session)
        (created,) = editor.asks("terminal/create")
        assert (created["cwd"], created["args"][-1]) == (str(scene.project), "make test")
        over = {each["name"]: each["value"] for each in created["env"]}
        assert over.items() >= {"PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}.items()
        assert "TERM" not in over
        assert "PATH" not in over
        names = ["create", "wait_for_exit", "output", "release"]
        assert methods(editor) == [f"terminal/{name}" for name in names]
        assert reported.cards["c1"]["content"] == [{"type": "terminal", "terminalId": "term-1"}]
        assert reported.statuses("c1") == ["pending", "in_progress", "completed"]
        assert reported.cards["c1"]["rawOutput"]["exit_code"] == 0
    assert "two tests passed" in plain_history(scene.provider.requests[1])[-1]


@pytest.mark.parametrize(("client", "is_used"), [("vscode-acp-client", False), ("zed", True)])
async def test_terminals_that_would_run_another_command_are_not_used(
    scene: Scene, client: str, is_used: bool
) -> None:
    scene.provider.plays(step(call("terminal", "c1", command="make 'two  words'")), step("Said."))
    async with scene.strange_editor() as editor:
        editor.laws.capabilities = {"terminal": True}
        greeting = {
            "clientCapabilities": {"terminal": True},
            "clientInfo": {"name": client, "version": "0.2.0"},
        }
        await editor.call("initialize", {"protocolVersion": 1, **greeting})
        play_terminal(editor)
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        assert bool(methods(editor)) is is_used
    said = "two tests passed" if is_used else "two  words"
    assert said in plain_history(scene.provider.requests[1])[-1]


@pytest.mark.parametrize(
    ("reported", "words"), [("SIGKILL", "SIGKILL"), ("SIGRTMIN+1", "SIGRTMIN+1"), ("]\n\x1b", "a signal")]
)
async def test_the_signal_that_killed_a_command_is_reported(scene: Scene, reported: str, words: str) -> None:
    scene.provider.plays(step(call("terminal", "c1", command="make test")), step("Killed."))
    async with scene.editor(terminal=True) as editor:
        play_terminal(editor)
        editor.on["terminal/wait_for_exit"] = lambda params: {"exitCode": None, "signal": reported}
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        output = ShownSession(editor, session).cards["c1"]["rawOutput"]
    assert (output["signal"], "exit_code" in output) == (words, False)
    assert plain_history(scene.provider.requests[1])[-1].endswith(f"\n[killed by {words}]")
    assert f'"signal":"{words}"' in scene.record_of(session).read_text()


async def test_a_rejected_command_never_gets_a_terminal(scene: Scene) -> None:
    scene.provider.plays(step(call("terminal", "c1", command="make test")), step("Then not."))
    async with scene.editor(terminal=True) as editor:
        play_terminal(editor)
        editor.on["session/request_permission"] = lambda params: {"outcome": {"outcome": "cancelled"}}
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert methods(editor) == []


async def test_cancelling_kills_and_releases_the_terminal(scene: Scene) -> None:
    scene.provider.plays(step(call("terminal", "c1", command="sleep 300")))
    async with scene.editor(terminal=True) as editor:
        killed = play_terminal(editor, exit_code=None)
        session = await editor.new_session(scene.project)
        async with anyio.create_task_group() as tasks:

            async def ask() -> None:
                assert await editor.prompt(session) == "cancelled"

            tasks.start_soon(ask)
            await editor.until(lambda: "terminal/wait_for_exit" in methods(editor))
            editor.cancel(session)
        assert killed.is_set()
        assert methods(editor)[-2:] == ["terminal/kill", "terminal/release"]
        card = ShownSession(editor, session).cards["c1"]
        assert (card["status"], card["content"]) == (
            "failed",
            [{"type": "terminal", "terminalId": "term-1"}],
        )
        scene.provider.plays(step("Still here."))
        assert await editor.prompt(session) == "end_turn"


async def test_a_command_that_times_out_is_killed_and_reported(scene: Scene) -> None:
    scene.provider.plays(step(call("terminal", "c1", command="sleep 300", timeout_s=0.01)), step("Too slow."))
    async with scene.editor(terminal=True) as editor:
        play_terminal(editor, exit_code=None)
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        assert methods(editor)[-3:] == ["terminal/kill", "terminal/output", "terminal/release"]
        assert ShownSession(editor, session).cards["c1"]["status"] == "failed"
    assert "timed out" in plain_history(scene.provider.requests[1])[-1]


async def test_an_editor_that_starts_no_terminal_is_not_needed(scene: Scene) -> None:
    scene.provider.plays(step(call("terminal", "c1", command="echo from here")), step("Fine."))

    async with scene.editor(terminal=True) as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert ShownSession(editor, session).cards["c1"]["status"] == "completed"
    assert "from here" in plain_history(scene.provider.requests[1])[-1]


@pytest.mark.parametrize("answer", [None, {"terminal_id": "misspelt"}])
async def test_a_command_the_editor_may_have_started_is_not_run_again_here(
    scene: Scene, answer: Json | None
) -> None:
    scene.provider.plays(step(call("terminal", "c1", command="echo x >> count")), step("Hm."))

    def odd(params: Json) -> Json:
        if answer is None:
            raise PeerError(INTERNAL_ERROR, "no shell integration")
        return answer

    async with scene.editor(terminal=True) as editor:
        editor.on["terminal/create"] = odd
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        assert ShownSession(editor, session).cards["c1"]["status"] == "failed"
    assert not (scene.project / "count").exists()
    assert "check before running it again" in plain_history(scene.provider.requests[1])[-1]


async def test_a_lost_terminal_is_a_failure_and_is_released(scene: Scene) -> None:
    scene.provider.plays(step(call("terminal", "c1", command="make")), step("Lost."))

    def lose(params: Json) -> Json:
        raise PeerError(INTERNAL_ERROR, "the window was closed")

    async with scene.editor(terminal=True) as editor:
        play_terminal(editor)
        editor.on["terminal/wait_for_exit"] = lose
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        assert methods(editor)[-1] == "terminal/release"
        assert ShownSession(editor, session).cards["c1"]["status"] == "failed"
    assert "the window was closed" in plain_history(scene.provider.requests[1])[-1]
