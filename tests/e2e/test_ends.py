"""Ends of a process: closed input, kill -9, two at once, a full disk."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import (
    COMMAND,
    SLEEPER,
    WAIT_S,
    agent_environment,
    mount_disk,
    pid_in,
    run_command,
    unmount,
    unwritable_folder,
    wait_for_end,
    watch_process,
)
from tests.e2e.raw_editor import RawEditor, editor, outcome_text, permit, prompt_params
from tests.model_server import Hold, Reply, Rule, Script, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]

ALLOW = {"session/request_permission": permit("allow_once")}
START = Reply("I start it.", tool_calls=(ToolCall("terminal", {"command": SLEEPER}),))
BOUND_OF_AN_END_S = 30
"""Two seconds are promised; what these tests rule out would last for minutes, so a loaded machine gets more."""

KILLED_EDITOR = """
import subprocess, sys
agent = subprocess.Popen([sys.argv[1]], stdin=subprocess.PIPE, stdout=sys.stdout, stderr=sys.stderr)
print(agent.pid, file=sys.stderr, flush=True)
while piece := sys.stdin.buffer.raw.read(65536):
    agent.stdin.write(piece)
    agent.stdin.flush()
"""


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "tiny"
    if why := mount_disk(folder, "size=256k,mode=700"):
        pytest.skip(why)
    yield folder
    unmount(folder)


def has_pid(update: dict[str, Any]) -> bool:
    return update["sessionUpdate"] == "tool_call_update" and "pid " in str(update.get("content"))


async def start_sleeper(one: RawEditor, session_id: str) -> int:
    """Prompt, wait until the command runs, and return its process ID."""
    await one.begin_prompt(session_id, "start it")
    return pid_in(str((await one.wait_for_update(has_pid))["content"]))


async def load(one: RawEditor, session_id: str, cwd: Path) -> dict[str, Any]:
    return await one.call("session/load", {"sessionId": session_id, "cwd": str(cwd), "mcpServers": []})


async def test_closed_input_during_a_stream_ends_the_process_at_once(tmp_path: Path, workspace: Path) -> None:
    held = Reply(("one ", "two"), holds=(Hold(anyio.Event(), after=1),))
    async with serve([held]) as server, editor(agent_environment(tmp_path, server), tmp_path) as one:
        session_id = await one.open_session(workspace)
        await one.begin_prompt(session_id, "talk")
        await one.wait_for_update(lambda u: u["sessionUpdate"] == "agent_message_chunk")
        with anyio.fail_after(BOUND_OF_AN_END_S):
            assert await one.leave() == 0
            await server.wait_for_disconnect()
        assert one.errors == ""


async def test_closed_standard_error_is_no_error_at_the_end(tmp_path: Path) -> None:
    script = 'exec "$0" 2>&- </dev/null'
    done = await run_command(
        "-c", script, COMMAND, environment=agent_environment(tmp_path), cwd=tmp_path, command="/bin/sh"
    )
    assert (done.code, done.output) == (0, "")


@pytest.mark.parametrize("closed", ["<&-", ">&- </dev/null", "<&- >&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("face", ["", "lsp"])
async def test_a_stream_that_was_never_open_is_reported_in_one_line(
    tmp_path: Path, closed: str, face: str
) -> None:
    done = await run_command(
        "-c",
        f'exec "$0" {face} {closed}',
        COMMAND,
        environment=agent_environment(tmp_path),
        cwd=tmp_path,
        command="/bin/sh",
    )
    told = "hermes-acp: Standard input or output is closed: Bad file descriptor. Start it with both open.\n"
    assert (done.code, done.output, done.errors) == (2, "", "" if "2>&-" in closed else told)


async def test_closed_input_while_a_command_runs_leaves_no_child(tmp_path: Path, workspace: Path) -> None:
    async with (
        serve([START]) as server,
        editor(agent_environment(tmp_path, server), tmp_path, answers=ALLOW) as one,
    ):
        session_id = await one.open_session(workspace)
        child = watch_process(await start_sleeper(one, session_id))
        with anyio.fail_after(BOUND_OF_AN_END_S):
            assert await one.leave() == 0
            await wait_for_end(child)
        assert one.errors == ""


async def test_closed_input_while_a_question_is_open(tmp_path: Path, workspace: Path) -> None:
    async with serve([START]) as server, editor(agent_environment(tmp_path, server), tmp_path) as one:
        session_id = await one.open_session(workspace)
        await one.begin_prompt(session_id, "start it")
        await one.wait_for(lambda m: m.get("method") == "session/request_permission")
        with anyio.fail_after(BOUND_OF_AN_END_S):
            assert await one.leave() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_signal_ends_the_server_and_its_commands(
    tmp_path: Path, workspace: Path, number: signal.Signals
) -> None:
    async with (
        serve([START]) as server,
        editor(agent_environment(tmp_path, server), tmp_path, answers=ALLOW) as one,
    ):
        session_id = await one.open_session(workspace)
        child = watch_process(await start_sleeper(one, session_id))
        one.process.send_signal(number)
        with anyio.fail_after(BOUND_OF_AN_END_S):
            assert await one.process.wait() in (128 + number, 0)
            await wait_for_end(child)
        assert one.errors == ""


async def test_a_killed_editor_ends_agent_and_command(tmp_path: Path, workspace: Path) -> None:
    async with serve([START]) as server:
        environment = agent_environment(tmp_path, server)
        with anyio.fail_after(WAIT_S):
            middle = await anyio.open_process(
                [sys.executable, "-c", KILLED_EDITOR, COMMAND],
                stdin=subprocess.PIPE,
                env=environment,
                cwd=tmp_path,
            )
            async with middle, anyio.create_task_group() as tasks:
                assert middle.stderr
                agent = watch_process(int(await middle.stderr.receive()))
                one = RawEditor(middle, ALLOW, tmp_path / "none")
                tasks.start_soon(one.read)
                await one.call("initialize", {"protocolVersion": 1})
                child = watch_process(await start_sleeper(one, await one.open_session(workspace)))
                middle.kill()
                await wait_for_end(agent, bound_s=BOUND_OF_AN_END_S)
                await wait_for_end(child, bound_s=BOUND_OF_AN_END_S)


async def test_kill_9_during_a_turn_loses_nothing_that_was_shown(tmp_path: Path, workspace: Path) -> None:
    rules = [Rule("start it", (START,)), Rule("go on", (Reply("Going on."),))]
    async with serve(Script(rules=rules)) as server:
        environment = agent_environment(tmp_path, server)
        async with editor(environment, tmp_path, answers=ALLOW) as one:
            session_id = await one.open_session(workspace)
            child = watch_process(await start_sleeper(one, session_id))
            (card,) = one.updates("tool_call", session_id)[:1]
            one.process.kill()
            with anyio.fail_after(WAIT_S):
                await one.process.wait()
        await wait_for_end(child, bound_s=BOUND_OF_AN_END_S)
        async with editor(environment, tmp_path, answers=ALLOW) as two:
            listed = (await two.call("session/list", {}))["result"]["sessions"]
            assert [(each["sessionId"], each["title"]) for each in listed] == [(session_id, "start it")]
            assert "result" in await load(two, session_id, workspace)
            assert two.said() == "I start it."
            end = [u for u in two.updates("tool_call_update") if u["toolCallId"] == card["toolCallId"]][-1]
            assert end["status"] == "failed"
            assert "may have taken effect" in outcome_text(end)
            assert (await two.prompt(session_id, "go on"))["result"] == {"stopReason": "end_turn"}
            assert two.said() == "I start it.Going on."
            assert await two.leave() == 0


async def test_kill_9_during_a_stream_keeps_the_text(tmp_path: Path, workspace: Path) -> None:
    held = Reply(("one ", "two ", "three"), holds=(Hold(anyio.Event(), after=2),))
    async with serve([held, Reply("Whole.")]) as server:
        environment = agent_environment(tmp_path, server)
        async with editor(environment, tmp_path) as one:
            session_id = await one.open_session(workspace)
            await one.begin_prompt(session_id, "talk")
            await one.wait_for(lambda _: "two" in one.said())
            one.process.kill()
            with anyio.fail_after(WAIT_S):
                await one.process.wait()
        async with editor(environment, tmp_path) as two:
            assert "result" in await load(two, session_id, workspace)
            assert two.said() == "one two "
            assert (await two.prompt(session_id, "again"))["result"] == {"stopReason": "end_turn"}


async def test_two_processes_with_one_home_and_20_sessions_each(tmp_path: Path, workspace: Path) -> None:
    rule = Rule("hello", (Reply("Hello back, word by word.", deltas=8),), pick="cycle")
    async with serve(Script(rules=[rule])) as server:
        environment = agent_environment(tmp_path, server)
        async with editor(environment, tmp_path) as one, editor(environment, tmp_path) as two:
            opened: list[str] = []

            async def converse(client: RawEditor) -> None:
                session_id = await client.open_session(workspace)
                opened.append(session_id)
                reply = await client.prompt(session_id, "hello")
                assert reply["result"] == {"stopReason": "end_turn"}
                assert client.said(session_id) == "Hello back, word by word."

            async with anyio.create_task_group() as tasks:
                for client in (one, two) * 20:
                    tasks.start_soon(converse, client)
            assert len(set(opened)) == 40
            for client in (one, two):
                listed = (await client.call("session/list", {}))["result"]["sessions"]
                assert {each["sessionId"] for each in listed} >= set(opened[:1])
            await check_same_session(one, two, workspace)
            assert (await one.leave(), await two.leave()) == (0, 0)
            assert (one.errors, two.errors) == ("", "")


async def check_same_session(one: RawEditor, two: RawEditor, workspace: Path) -> None:
    session_id = await one.open_session(workspace)
    refused = await load(two, session_id, workspace)
    assert refused["error"]["code"] == -32600
    assert refused["error"]["data"]["code"] == "busy"
    assert "another hermes-acp process" in refused["error"]["message"]
    await one.call("session/close", {"sessionId": session_id})
    assert "result" in await load(two, session_id, workspace)
    assert (await two.prompt(session_id, "hello"))["result"] == {"stopReason": "end_turn"}


async def test_an_unwritable_home_is_reported(tmp_path: Path, workspace: Path) -> None:
    with unwritable_folder(tmp_path / "locked") as locked:
        async with serve([]) as server, editor(agent_environment(locked, server), tmp_path) as one:
            for _ in range(2):
                reply = await one.call("session/new", {"cwd": str(workspace), "mcpServers": []})
                assert reply["error"]["data"]["code"] == "storage_trouble"
                assert str(locked) in reply["error"]["message"]
                assert "HERMES_HOME" in reply["error"]["message"]
            reply = await one.call("session/list", {})
            assert "error" in reply or reply["result"]["sessions"] == []
            assert await one.leave() == 0
            assert one.errors == ""


async def test_a_disk_that_fills_up_ends_only_the_turn(tiny_disk: Path, workspace: Path) -> None:
    many = Reply("word " * 100_000, deltas=20)
    rules = [Rule("fill", (many,)), Rule("hello", (Reply("Hello."),), pick="cycle")]
    filler = tiny_disk / "filler"
    filler.write_bytes(b"x" * 100_000)
    async with serve(Script(rules=rules)) as server:
        environment = agent_environment(tiny_disk, server)
        scratch = workspace.parent / "scratch"
        async with editor(environment, scratch) as one:
            session_id = await one.open_session(workspace)
            assert (await one.prompt(session_id, "hello"))["result"] == {"stopReason": "end_turn"}
            failed = await one.prompt(session_id, "fill")
            assert failed["error"]["data"]["code"] == "storage_trouble"
            assert "disk is full" in failed["error"]["message"]
            again = await one.call("session/prompt", prompt_params(session_id, "hello"))
            assert again["error"]["data"]["code"] == "storage_trouble", (
                "a session that cannot be stored is read-only"
            )
            assert await one.leave() == 0
            assert "Traceback" not in one.errors
            shown = one.said()
        filler.unlink()
        async with editor(environment, scratch) as two:
            assert "result" in await load(two, session_id, workspace)
            assert two.said() == shown, "what was shown was stored"
            assert (await two.prompt(session_id, "hello"))["result"] == {"stopReason": "end_turn"}
            assert await two.leave() == 0
