"""The product without Linux-only calls, as Python on macOS offers them (`macos_machine`).

It has not run on macOS itself. This shows that no call missing there is made without an alternative.
"""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import (
    SLEEPER,
    agent_environment,
    headless_running,
    pid_in,
    run_command,
    run_headless,
    wait_for_end,
    watch_process,
)
from tests.e2e.http_serving import GREETING, serving, socket_client
from tests.e2e.raw_editor import Message, RawEditor, editor, permit
from tests.model_server import ModelServer, Reply, Rule, Script, ToolCall, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform != "linux", reason="makes Linux look like macOS"),
]

MACHINE = Path(__file__).with_name("macos_machine")
UNCONFINED = ("--mode", "bypass", "--allow-bypass")
ALLOW = {"session/request_permission": permit("allow_once")}
SLEEP = Reply("I start it.", tool_calls=(ToolCall("terminal", {"command": SLEEPER}),))
ALL_KINDS = (
    ToolCall("read_file", {"path": "a.py"}),
    ToolCall("edit_file", {"path": "a.py", "old_text": "x = 1", "new_text": "x = 5"}),
    ToolCall("write_file", {"path": "new/b.py", "content": "y = 2\n"}),
    ToolCall("terminal", {"command": "echo ran; cat a.py"}),
    ToolCall("search", {"pattern": "y ="}),
    ToolCall("list_files", {"path": "."}),
    ToolCall("execute_code", {"code": "print(tools.read_file(path='a.py'))"}),
)


def macos_environment(home: Path, server: ModelServer | None = None) -> dict[str, str]:
    """Return the variables of an agent that takes this machine for a Mac."""
    return agent_environment(home, server, PYTHONPATH=str(MACHINE), HERMES_TEST_PLATFORM="darwin")


async def load(one: RawEditor, session_id: str, cwd: Path) -> Message:
    return await one.call("session/load", {"sessionId": session_id, "cwd": str(cwd), "mcpServers": []})


async def test_every_kind_of_tool_runs(home: Path, workspace: Path) -> None:
    async with serve([Reply("I work.", tool_calls=ALL_KINDS), Reply("Done.")]) as server:
        done = await run_headless(
            "-p", "work", *UNCONFINED, environment=macos_environment(home, server), cwd=workspace
        )
    assert (done.code, done.output) == (0, "Done.\n"), done.errors
    assert "failed" not in done.errors
    assert (workspace / "a.py").read_text().startswith("x = 5")
    assert (workspace / "new" / "b.py").read_text() == "y = 2\n"
    assert "There is no sandbox for commands: /usr/bin/sandbox-exec is missing" in done.errors


async def test_an_edit_is_undone(home: Path, workspace: Path) -> None:
    before = (workspace / "a.py").read_text()
    edit = (*ALL_KINDS[:2],)
    async with (
        serve([Reply("I edit.", tool_calls=edit), Reply("Done.")]) as server,
        editor(macos_environment(home, server), home, answers=ALLOW) as one,
    ):
        session_id = await one.open_session(workspace)
        await one.prompt(session_id, "edit it")
        assert (workspace / "a.py").read_text() != before
        await one.prompt(session_id, "/undo")
        assert (workspace / "a.py").read_text() == before
        assert await one.leave() == 0
        assert one.errors == ""


async def test_an_unsandboxed_command_needs_approval(home: Path, workspace: Path) -> None:
    call = ToolCall("terminal", {"command": "python3 -c 'print(1)'"})
    async with serve([Reply("I run.", tool_calls=(call,)), Reply("Done.")]) as server:
        done = await run_headless(
            "-p", "run", "--mode", "auto", environment=macos_environment(home, server), cwd=workspace
        )
    assert done.code == 5
    assert "needs approval" in done.errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_no_command_outlives_the_agent(home: Path, workspace: Path, number: signal.Signals) -> None:
    async with serve([SLEEP]) as server:
        flags = ("-p", "start", "--output-format", "stream-json", *UNCONFINED)
        environment = macos_environment(home, server)
        async with headless_running(*flags, environment=environment, cwd=workspace) as run:
            child = watch_process(pid_in((await run.wait_for_output(rb"pid \d+"))[0]))
            run.interrupt(number)
            await run.finish()
            await wait_for_end(child)


async def test_a_killed_session_continues(home: Path, workspace: Path) -> None:
    rules = [Rule("start it", (SLEEP,)), Rule("go on", (Reply("Going on."),))]
    async with serve(Script(rules=rules)) as server:
        environment = macos_environment(home, server)
        async with editor(environment, home, answers=ALLOW) as one:
            session_id = await one.open_session(workspace)
            await one.begin_prompt(session_id, "start it")
            await one.wait_for_update(lambda update: "pid " in str(update.get("content")))
            one.process.kill()
            await one.process.wait()
        async with editor(environment, home, answers=ALLOW) as two:
            assert "result" in await load(two, session_id, workspace)
            assert (await two.prompt(session_id, "go on"))["result"] == {"stopReason": "end_turn"}
            assert two.said().endswith("Going on.")
            assert await two.leave() == 0


async def test_serve_answers(home: Path, workspace: Path) -> None:
    async with serve([Reply("Hello.")]) as model, serving(macos_environment(home, model), home) as server:
        async with socket_client(server.url, None) as client:
            await client.call("initialize", GREETING)
            session_id = await client.open_session(workspace)
            await client.prompt(session_id, "hello")
            assert client.said(session_id) == "Hello."
        server.process.terminate()
        assert await server.wait() == 0
        assert len(server.errors.splitlines()) == 2  # The address, and that of the web page.


async def test_doctor_says_what_is_missing(home: Path, workspace: Path) -> None:
    done = await run_command("doctor", environment=macos_environment(home), cwd=workspace)
    assert "There is no sandbox for commands: /usr/bin/sandbox-exec is missing" in done.output
    assert "Traceback" not in done.errors


async def test_new_skills_are_noticed(home: Path, workspace: Path) -> None:
    """There is no inotify, so folders are polled."""
    async with (
        serve([Reply("Hello.")]) as server,
        editor(macos_environment(home, server), home) as one,
    ):
        await one.open_session(workspace)
        place = home / ".hermes" / "skills" / "fresh"
        place.mkdir(parents=True)
        (place / "SKILL.md").write_text("---\nname: fresh\ndescription: A fresh skill.\n---\nDo it.\n")
        with anyio.fail_after(30):
            await one.wait_for_update(lambda update: "/fresh" in str(update) or "fresh" in str(update))
