"""The resident process with real editor processes: connected, lost, killed, stopped and resumed."""

from __future__ import annotations

import json
import os
import socket
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import pytest

from hermes_acp import __version__
from tests.e2e.agent_process import WAIT_S, agent_environment, run_command
from tests.e2e.http_serving import serving
from tests.e2e.raw_editor import LOCAL, Message, RawEditor, editor, permit
from tests.e2e.resident_process import resident
from tests.model_server import Hold, Reply, ToolCall, serve

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")]
ALLOW = {"session/request_permission": permit("allow_once")}


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


async def load(agent: RawEditor, session_id: str, workspace: Path) -> None:
    params: Message = {"sessionId": session_id, "cwd": str(workspace), "mcpServers": []}
    assert "result" in await agent.call("session/load", params)


async def said(agent: RawEditor, text: str) -> None:
    await agent.wait_for(lambda _: agent.said() == text)


async def status(environment: dict[str, str], cwd: Path) -> Any:
    done = await run_command("status", "--json", environment=environment, cwd=cwd)
    return json.loads(done.output)


async def test_an_editors_process_hands_over_and_another_joins_its_session(
    tmp_path: Path, workspace: Path
) -> None:
    async with serve([Reply("First."), Reply("Second.")]) as model:
        environment = agent_environment(tmp_path, model)
        async with (
            resident(environment, tmp_path),
            editor(environment, workspace) as first,
            editor(environment, workspace) as second,
        ):
            session_id = await first.open_session(workspace)
            await first.prompt(session_id, "one")
            await load(second, session_id, workspace)
            await second.prompt(session_id, "two")
            await said(first, "First.Second.")
            assert second.said() == "First.Second."
            found = await status(environment, tmp_path)
            assert [session["id"] for session in found["sessions"]] == [session_id]
            assert len(found["sessions"][0]["clients"]) == 2


async def test_a_turn_continues_when_its_editor_is_killed_and_the_next_answers_its_question(
    tmp_path: Path, workspace: Path
) -> None:
    hold = anyio.Event()
    write = ToolCall("write_file", {"path": "new.txt", "content": "new\n"})
    reply = Reply(("Wait. ", "Go. "), tool_calls=(write,), holds=(Hold(hold, after=1),))
    async with serve([reply, Reply("Done.")]) as model:
        environment = agent_environment(tmp_path, model)
        async with resident(environment, tmp_path):
            async with editor(environment, workspace) as first:
                session_id = await first.open_session(workspace)
                await first.begin_prompt(session_id, "write")
                await said(first, "Wait. ")
                first.process.kill()
                await first.process.wait()
            hold.set()
            async with editor(environment, workspace, answers=ALLOW) as second:
                await load(second, session_id, workspace)
                await said(second, "Wait. Go. Done.")
        assert (workspace / "new.txt").read_text() == "new\n"


async def test_the_turn_of_a_killed_resident_process_continues_in_the_next_one(
    tmp_path: Path, workspace: Path
) -> None:
    hold = anyio.Event()
    async with serve([Reply(("Wait. ", "x"), holds=(Hold(hold, after=1),)), Reply("Continued.")]) as model:
        environment = agent_environment(tmp_path, model)
        async with resident(environment, tmp_path) as killed, editor(environment, workspace) as first:
            session_id = await first.open_session(workspace)
            await first.begin_prompt(session_id, "go")
            await said(first, "Wait. ")
            killed.process.kill()
            assert await first.process.wait() == 75
            assert "The resident process has ended" in first.errors
        assert (tmp_path / ".hermes" / "daemon.sock").exists()
        async with resident(environment, tmp_path), editor(environment, workspace) as second:
            await load(second, session_id, workspace)
            await second.wait_for(lambda _: second.said().endswith("Continued."))
            with anyio.fail_after(WAIT_S):
                while json.loads((tmp_path / ".hermes" / "unfinished-turns.json").read_text()):
                    await anyio.sleep(0.01)


async def test_stopping_lets_a_turn_end_and_rejects_new_ones(tmp_path: Path, workspace: Path) -> None:
    hold = anyio.Event()
    async with serve([Reply(("Wait. ", "Done."), holds=(Hold(hold, after=1),))]) as model:
        environment = agent_environment(tmp_path, model)
        async with resident(environment, tmp_path) as stopped, editor(environment, workspace) as first:
            session_id = await first.open_session(workspace)
            other = await first.open_session(workspace)
            turn = await first.begin_prompt(session_id, "go")
            await said(first, "Wait. ")
            stopped.process.terminate()
            while "error" not in (refused := await first.prompt(other, "/status")):
                pass
            assert refused["error"]["data"]["code"] == "busy"
            hold.set()
            await first.wait_for(lambda m: m.get("id") == turn and "result" in m)
            assert await stopped.wait() == 0
            assert await first.process.wait() == 0


@pytest.mark.slow
async def test_only_one_process_runs_and_an_incompatible_client_works_alone(
    tmp_path: Path, workspace: Path
) -> None:
    async with serve([Reply("Alone.")]) as model:
        environment = agent_environment(tmp_path, model)
        other = environment | {"OPENAI_API_KEY": "sk-another-key-for-the-test"}
        async with resident(environment, tmp_path):
            again = await run_command("daemon", "run", environment=environment, cwd=tmp_path)
            assert (again.code, "already running" in again.errors) == (75, True)
            async with editor(other, workspace) as alone:
                session_id = await alone.open_session(workspace)
                await alone.prompt(session_id, "go")
                await said(alone, "Alone.")
                assert "OPENAI_API_KEY." in alone.errors
                assert "sk-another" not in alone.errors
            assert (await status(environment, tmp_path))["sessions"] == []


async def test_commands_see_the_variables_of_the_clients_process(tmp_path: Path, workspace: Path) -> None:
    run = Reply("I look.", tool_calls=(ToolCall("terminal", {"command": "echo venv=$VIRTUAL_ENV"}),))
    async with serve([run, Reply("Seen.")]) as model:
        environment = agent_environment(tmp_path, model)
        async with (
            resident(environment, tmp_path),
            editor(environment | {"VIRTUAL_ENV": "/of/the/editor"}, workspace, answers=ALLOW) as first,
        ):
            session_id = await first.open_session(workspace)
            await first.prompt(session_id, "look")
        (outcome,) = [m for m in model.requests[-1].body["messages"] if m["role"] == "tool"]
        assert "venv=/of/the/editor" in outcome["content"]


async def test_start_stop_and_status_at_a_terminal(tmp_path: Path) -> None:
    environment = agent_environment(tmp_path, HERMES_HOME=str(tmp_path / ("long-" * 25) / "home"))
    nothing = await run_command("status", environment=environment, cwd=tmp_path)
    assert (nothing.code, "not running" in nothing.output) == (1, True)
    started = await run_command("daemon", "start", environment=environment, cwd=tmp_path)
    assert started.code == 0, started.errors
    try:
        running = await run_command("status", environment=environment, cwd=tmp_path)
        assert (running.code, "No session is open." in running.output) == (0, True)
    finally:
        stopped = await run_command("daemon", "stop", environment=environment, cwd=tmp_path)
    assert (stopped.code, stopped.errors) == (0, "Stopped.\n")
    assert (await run_command("status", environment=environment, cwd=tmp_path)).code == 1


async def test_a_start_with_other_flags_is_rejected_and_the_log_has_times(tmp_path: Path) -> None:
    environment = agent_environment(tmp_path)
    assert (await run_command("daemon", "start", environment=environment, cwd=tmp_path)).code == 0
    try:
        same = await run_command("daemon", "start", environment=environment, cwd=tmp_path)
        assert (same.code, "already running" in same.errors) == (0, True)
        listen = ("daemon", "start", "--listen", "127.0.0.1:0")
        other = await run_command(*listen, environment=environment, cwd=tmp_path)
        assert (other.code, "It was started without options." in other.errors) == (75, True)
        assert "`hermes-acp daemon restart --listen 127.0.0.1:0`" in other.errors
    finally:
        await run_command("daemon", "stop", environment=environment, cwd=tmp_path)
    (line,) = (tmp_path / ".hermes" / "logs" / "daemon.log").read_text().splitlines()
    when, _, said_then = line.partition("  ")
    assert (datetime.fromisoformat(when).tzinfo is not None, said_then.split(":")[0]) == (
        True,
        "The resident process is ready",
    )


async def test_nothing_is_served_for_a_home_that_cannot_be_created(tmp_path: Path) -> None:
    environment = agent_environment(tmp_path, HERMES_HOME="/dev/null/home", HERMES_SERVE_TOKEN="t" * 32)
    done = await run_command("serve", "--listen", "127.0.0.1:0", environment=environment, cwd=tmp_path)
    assert (done.code, "/dev/null/home" in done.errors) == (4, True), done.errors


async def test_an_address_is_printed_once_local_clients_are_served_too(tmp_path: Path) -> None:
    async with serving(agent_environment(tmp_path), tmp_path / "scratch"):
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(tmp_path / ".hermes" / "daemon.sock"))


async def test_a_client_that_sends_no_descriptors_is_disconnected(tmp_path: Path) -> None:
    environment = agent_environment(tmp_path)
    hello = {"purpose": "serve", "version": __version__, "variables": environment}
    async with resident(environment, tmp_path):
        with socket.socket(socket.AF_UNIX) as line:
            line.connect(str(tmp_path / ".hermes" / "daemon.sock"))
            line.settimeout(WAIT_S)
            line.sendall(json.dumps(hello).encode() + b"\n")
            assert json.loads(line.recv(1 << 16)) == {"isAccepted": True}
            line.sendall(b"\x01")
            assert line.recv(1) == b""
        assert (await status(environment, tmp_path))["clients"] == []


async def test_a_restart_listens_at_the_same_address(tmp_path: Path) -> None:
    environment = agent_environment(tmp_path)
    listen = ("--listen", "127.0.0.1:0")
    try:
        for words in (("start", *listen), ("restart",)):
            done = await run_command("daemon", *words, environment=environment, cwd=tmp_path)
            assert done.code == 0, done.errors
            assert (await status(environment, tmp_path))["address"].startswith("http://127.0.0.1:")
    finally:
        await run_command("daemon", "stop", environment=environment, cwd=tmp_path)


async def test_the_name_of_a_client_is_one_plain_line(tmp_path: Path, workspace: Path) -> None:
    greeting = {**LOCAL, "clientInfo": {"name": "evil\x1b[31m\nname", "version": "1"}}
    environment = agent_environment(tmp_path)
    async with resident(environment, tmp_path), editor(environment, workspace, greeting=greeting):
        assert (await status(environment, tmp_path))["clients"] == ["evil [31m name"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as two users")
async def test_a_socket_of_another_user_is_sent_nothing(tmp_path: Path, workspace: Path) -> None:
    home = tmp_path / ".hermes"
    home.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as impostor:
        impostor.bind(str(home / "daemon.sock"))
        os.seteuid(65534)
        try:
            impostor.listen()
        finally:
            os.seteuid(0)
        async with editor(agent_environment(tmp_path), workspace) as alone:
            assert "result" in await alone.call("session/list", {})
        with impostor.accept()[0] as heard:
            assert heard.recv(1) == b""


async def test_a_client_with_an_invalid_first_message_is_disconnected(
    tmp_path: Path, workspace: Path
) -> None:
    environment = agent_environment(tmp_path)
    async with resident(environment, tmp_path):
        path = str(tmp_path / ".hermes" / "daemon.sock")
        assert os.stat(path).st_mode & 0o777 == 0o600
        for said_first in (b"", b"no json\n", b'{"purpose":"other"}\n', b"x" * (2 << 20)):
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(path)
                line.settimeout(60)
                try:
                    line.sendall(said_first)
                    line.shutdown(socket.SHUT_WR)
                    while line.recv(1 << 16):
                        pass
                except OSError:
                    pass
        assert (await status(environment, tmp_path))["sessions"] == []
