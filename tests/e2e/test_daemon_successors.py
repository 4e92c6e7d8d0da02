"""Resident processes that are killed, replaced or started on demand, and clients that find the next one."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.e2e.agent_process import WAIT_S, agent_environment, configure, run_command
from tests.e2e.chat_environment import Place
from tests.e2e.chat_terminal import ENTER
from tests.e2e.raw_editor import Message, RawEditor, editor
from tests.e2e.resident_process import resident
from tests.model_server import Hold, Reply, serve

pytestmark = pytest.mark.anyio


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


async def load(agent: RawEditor, session_id: str, workspace: Path) -> None:
    params: Message = {"sessionId": session_id, "cwd": str(workspace), "mcpServers": []}
    answer = await agent.call("session/load", params)
    assert "result" in answer, (answer, agent.errors)


async def status(environment: dict[str, str], cwd: Path) -> Any:
    return json.loads((await run_command("status", "--json", environment=environment, cwd=cwd)).output)


async def test_a_client_started_after_a_kill_waits_for_the_next_process(
    tmp_path: Path, workspace: Path
) -> None:
    hold = anyio.Event()
    async with serve([Reply(("Wait. ", "x"), holds=(Hold(hold, after=1),)), Reply("Continued.")]) as model:
        environment = agent_environment(tmp_path, model)
        async with resident(environment, tmp_path) as killed, editor(environment, workspace) as first:
            session_id = await first.open_session(workspace)
            await first.begin_prompt(session_id, "go")
            await first.wait_for(lambda _: first.said() == "Wait. ")
            killed.process.kill()
            assert await first.process.wait() == 75
        has_ended = anyio.Event()

        async def go_on() -> None:
            async with editor(environment, workspace) as second:
                await load(second, session_id, workspace)
                await second.wait_for(lambda _: second.said().endswith("Continued."))
                assert second.said() == "Wait. Continued."
                assert second.errors == ""
            has_ended.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(go_on)
            async with resident(environment, tmp_path):
                await has_ended.wait()


async def test_a_restart_keeps_its_clients_and_the_turn(tmp_path: Path, workspace: Path) -> None:
    configure(tmp_path, "serve: {drain_seconds: 0.1}\n")
    hold = anyio.Event()
    async with serve([Reply(("Wait. ", "x"), holds=(Hold(hold, after=1),)), Reply("Continued.")]) as model:
        environment = agent_environment(tmp_path, model)
        assert (await run_command("daemon", "start", environment=environment, cwd=tmp_path)).code == 0
        try:
            async with editor(environment, workspace) as first, anyio.create_task_group() as tasks:
                session_id = await first.open_session(workspace)
                await first.begin_prompt(session_id, "go")
                await first.wait_for(lambda _: first.said() == "Wait. ")

                async def restart() -> None:
                    done = await run_command("daemon", "restart", environment=environment, cwd=tmp_path)
                    assert done.code == 0, done.errors

                tasks.start_soon(restart)
                await first.process.wait()
                async with editor(environment, workspace) as second:
                    await load(second, session_id, workspace)
                    await second.wait_for(lambda _: second.said().endswith("Continued."))
                    assert second.said() == "Wait. Continued."
                    assert second.errors == ""
        finally:
            await run_command("daemon", "stop", environment=environment, cwd=tmp_path)


@pytest.mark.slow
async def test_without_a_next_process_a_client_works_alone_and_says_why(
    tmp_path: Path, workspace: Path
) -> None:
    async with serve([Reply("Alone.")]) as model:
        environment = agent_environment(tmp_path, model)
        async with resident(environment, tmp_path) as killed:
            killed.process.kill()
            await killed.wait()
        for expected in ("no other one is responding", ""):
            async with editor(environment, workspace) as alone:
                await alone.open_session(workspace)
                assert expected in alone.errors
                assert bool(expected) == bool(alone.errors)


async def test_a_process_started_by_an_editor_survives_it_and_ends_when_unused(
    tmp_path: Path, workspace: Path
) -> None:
    configure(tmp_path, "daemon: auto  # for editors\ndaemon_idle_minutes: 0.02\n")
    async with serve([Reply("First."), Reply("Second.")]) as model:
        environment = agent_environment(tmp_path, model)
        async with editor(environment, workspace) as first, editor(environment, workspace) as second:
            assert "The agent is running in the background" in first.errors
            assert second.errors == ""
            session_id = await first.open_session(workspace)
            await first.prompt(session_id, "one")
            found = await status(environment, tmp_path)
            os.kill(first.process.pid, signal.SIGKILL)
            await first.process.wait()
            await load(second, session_id, workspace)
            await second.prompt(session_id, "two")
            assert second.said() == "First.Second."
            assert (await status(environment, tmp_path))["pid"] == found["pid"] != first.process.pid
            assert os.getsid(found["pid"]) == found["pid"]
            assert found["flags"] == ["--on-demand"]
        with anyio.fail_after(WAIT_S):
            while (tmp_path / ".hermes" / "daemon.sock").exists():
                await anyio.sleep(0.02)
        assert "Stopping after being idle." in (tmp_path / ".hermes" / "logs" / "daemon.log").read_text()


async def test_a_process_started_by_an_editor_stays_if_the_user_starts_it(tmp_path: Path) -> None:
    configure(tmp_path, "daemon: auto\n")
    environment = agent_environment(tmp_path)
    async with editor(environment, tmp_path):
        pass
    try:
        shown = await run_command("status", environment=environment, cwd=tmp_path)
        assert "`hermes-acp daemon start` keeps it running" in shown.output
        start = await run_command("daemon", "start", environment=environment, cwd=tmp_path)
        assert (start.code, "keeps running until you stop it" in start.errors) == (0, True)
        assert (await status(environment, tmp_path))["flags"] == []
    finally:
        await run_command("daemon", "stop", environment=environment, cwd=tmp_path)


async def test_if_no_process_can_be_started_on_demand_the_editor_works_alone(
    tmp_path: Path, workspace: Path
) -> None:
    configure(tmp_path, "daemon: 'auto'\n").with_name("logs").write_text("no folder")
    async with serve([Reply("Alone.")]) as model:
        environment = agent_environment(tmp_path, model)
        async with editor(environment, workspace) as alone:
            session_id = await alone.open_session(workspace)
            await alone.prompt(session_id, "go")
            assert alone.said() == "Alone."
            assert str(tmp_path / ".hermes" / "logs") in alone.errors
            assert "This process runs on its own" in alone.errors


async def test_a_chat_continues_in_the_next_process(place: Place) -> None:
    never = anyio.Event()
    replies = [
        Reply("First answer."),
        Reply(("Half of", " it"), holds=(Hold(never, after=1),)),
        Reply("Continued."),
        Reply("Third answer."),
    ]
    async with serve(replies) as model:
        environment = agent_environment(place.home, model)
        async with resident(environment, place.home) as killed, place.chat(model) as terminal:
            terminal.type(f"one{ENTER}")
            await terminal.see("First answer.")
            terminal.type(f"two{ENTER}")
            await terminal.see("Half of")
            killed.process.kill()
            await killed.wait()
            async with resident(environment, place.home):
                await terminal.see("Continued.")
                terminal.type(f"three{ENTER}")
                await terminal.see("Third answer.")
                (session,) = (await status(environment, place.home))["sessions"]
                assert len(session["clients"]) == 1
                for words in ("First answer.", "Half of", "Continued.", "❯ two", "Third answer."):
                    assert terminal.text.count(words) == 1, terminal.text
        assert len(model.requests) == 4
