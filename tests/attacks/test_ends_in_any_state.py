"""Shutdown on SIGTERM or closed input, whatever part of the process hangs.

These tests rule out hangs that last forever, so their time limit is generous.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import anyio
import pytest

from tests.e2e.agent_process import (
    COMMAND,
    WAIT_S,
    agent_environment,
    pid_in,
    wait_for_end,
    watch_process,
)
from tests.e2e.raw_editor import LOCAL, Message, RawEditor, editor, permit
from tests.model_server import Reply, Rule, Script, ToolCall, serve

pytestmark = [
    pytest.mark.slow,
    pytest.mark.anyio,
    pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX"),
]
END_S = 30
SPOIL = """
import sys, threading
import anyio.to_thread
{spoiling}
sys.argv = ["hermes-acp", *sys.argv[1:]]
from hermes_acp.__main__ import main
main()
"""
FOR_EVER = "(sys.stderr.write('It hangs.'), sys.stderr.flush(), threading.Event().wait())"
STATES = {
    "the event loop is blocked": f"""
from hermes_acp.sessions.session_manager import SessionManager
SessionManager.page = lambda *_: {FOR_EVER}
""",
    "a worker thread never returns": f"""
from hermes_acp.sessions.session_manager import SessionManager
async def page(*_):
    await anyio.to_thread.run_sync(lambda: {FOR_EVER})
SessionManager.page = page
""",
    "all worker threads are taken": f"""
from hermes_acp.sessions.session_manager import SessionManager
async def page(*_):
    async with anyio.create_task_group() as tasks:
        for _ in range(60):
            tasks.start_soon(anyio.to_thread.run_sync, lambda: {FOR_EVER})
SessionManager.page = page
""",
    "closing never ends": """
from hermes_acp.app.app import App
async def aclose(_):
    await anyio.sleep_forever()
App.aclose = aclose
""",
    "starting never ends": f"""
import hermes_acp.config.environment as environment
environment.read_environment = lambda: {FOR_EVER}
""",
}


def spoiled(spoiling: str) -> Sequence[str]:
    return (sys.executable, "-c", SPOIL.format(spoiling=spoiling))


HEADLESS = {
    "the event loop is blocked": f"""
from hermes_acp.sessions.session import Session
Session.prompt = lambda *_, **__: {FOR_EVER}
""",
    "a worker thread never returns": f"""
from hermes_acp.sessions.session import Session
async def prompt(*_, **__):
    await anyio.to_thread.run_sync(lambda: {FOR_EVER})
Session.prompt = prompt
""",
    "closing never ends": """
from hermes_acp.app.app import App
from hermes_acp.sessions.session import Session
async def wait(*_):
    sys.stderr.write('It hangs.')
    sys.stderr.flush()
    await anyio.sleep_forever()
App.aclose = Session.prompt = wait
""",
}


async def hanging(one: RawEditor) -> None:
    """Wait until the broken part reports that it was reached."""
    with anyio.fail_after(WAIT_S):
        while "It hangs." not in one.errors:
            await anyio.sleep(0.02)


async def end(one: RawEditor, way: str) -> None:
    """Ask the process to end, and wait for it."""
    with anyio.fail_after(END_S):
        if way == "SIGTERM":
            one.process.send_signal(signal.SIGTERM)
            assert await one.process.wait() in (0, 128 + signal.SIGTERM, -signal.SIGTERM)
        else:
            assert one.process.stdin
            await one.process.stdin.aclose()
            assert await one.process.wait() == 0


@pytest.mark.parametrize("way", ["SIGTERM", "closed input"])
@pytest.mark.parametrize("state", STATES)
async def test_the_agent_ends_when_asked_whatever_hangs(tmp_path: Path, state: str, way: str) -> None:
    command = spoiled(STATES[state])
    async with editor(agent_environment(tmp_path), tmp_path, command=command, greeting=None) as one:
        await one.begin("initialize", LOCAL)
        asked = await one.begin("session/list", {})
        if state == "closing never ends":
            await one.wait_for(lambda message: message.get("id") == asked)
        else:
            await hanging(one)
        await end(one, way)


@pytest.mark.parametrize("state", HEADLESS)
async def test_a_headless_run_ends_whatever_hangs(tmp_path: Path, state: str) -> None:
    command = (*spoiled(HEADLESS[state]), "run", "-p", "Work")
    async with (
        serve(Script([Reply("Done.")])) as server,
        await anyio.open_process(command, cwd=tmp_path, env=agent_environment(tmp_path, server)) as process,
    ):
        assert process.stderr
        errors = b""
        with anyio.fail_after(WAIT_S):
            while b"It hangs." not in errors:
                errors += await process.stderr.receive()
        process.send_signal(signal.SIGTERM)
        with anyio.fail_after(END_S):
            assert await process.wait() == 128 + signal.SIGTERM


@pytest.mark.parametrize("way", ["SIGTERM", "closed input"])
async def test_the_agent_ends_while_nobody_reads_its_output(tmp_path: Path, way: str) -> None:
    talk = Script([Reply("word " * 20_000)], pick="cycle")
    async with serve(talk) as server, editor(agent_environment(tmp_path, server), tmp_path) as one:
        session_id = await one.open_session(tmp_path)
        await one.prompt(session_id, "talk")
        one.may_read = anyio.Event()
        for _ in range(20):
            await one.begin("session/load", {"sessionId": session_id, "cwd": str(tmp_path), "mcpServers": []})
        await end(one, way)
        one.may_read.set()


@pytest.mark.parametrize("way", ["SIGTERM", "closed input"])
async def test_the_agent_ends_beside_a_server_and_a_command_that_do_not(tmp_path: Path, way: str) -> None:
    stubborn = "trap '' TERM HUP INT; echo \"pid $$\"; while :; do sleep 300; done"
    start = Reply(tool_calls=(ToolCall("terminal", {"command": stubborn}),))
    script = Script([Reply("Done.")], rules=[Rule("start", (start,))], pick="cycle")
    answers = {"session/request_permission": permit("allow_once")}
    command = spoiled(STATES["a worker thread never returns"])
    async with (
        serve(script) as server,
        editor(agent_environment(tmp_path, server), tmp_path, answers=answers, command=command) as one,
    ):
        hung = {"name": "hung", "command": "/bin/sh", "args": ["-c", stubborn], "env": []}
        reply = await one.call("session/new", {"cwd": str(tmp_path), "mcpServers": [hung]})
        await one.begin_prompt(reply["result"]["sessionId"], "start")
        shown = await one.wait_for_update(lambda update: "pid " in str(update.get("content")))
        child = watch_process(pid_in(str(shown["content"])))
        await one.begin("session/list", {})
        await hanging(one)
        await end(one, way)
        await wait_for_end(child)


async def test_no_line_of_the_record_is_left_incomplete(tmp_path: Path) -> None:
    script = Script([Reply("Still here.")], pick="cycle")
    state = STATES["a worker thread never returns"]
    async with (
        serve(script) as server,
        editor(agent_environment(tmp_path, server), tmp_path, command=spoiled(state)) as one,
    ):
        session_id = await one.open_session(tmp_path)
        await one.prompt(session_id, "Are you there?")
        await one.begin("session/list", {})
        await hanging(one)
        await end(one, "SIGTERM")
        async with editor(agent_environment(tmp_path, server), tmp_path, command=(COMMAND,)) as again:
            loaded: Message = {"sessionId": session_id, "cwd": str(tmp_path), "mcpServers": []}
            assert "result" in await again.call("session/load", loaded)
            assert again.said(session_id) == "Still here."
            assert "torn" not in str(again.messages)
