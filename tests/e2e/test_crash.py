"""Agents killed in the middle of their work: nothing is lost, half done or done twice, and the work continues.

The first test is a small version of `bench.crash`, which kills hundreds of times.
"""

import sys
from pathlib import Path

import anyio
import pytest

from bench.crash import Bench
from hermes_acp.sessions.session import CONTINUE_NOTE
from tests.e2e.agent_process import (
    SLEEPER,
    WAIT_S,
    agent_environment,
    headless_running,
    pid_in,
    run_headless,
    wait_for_end,
    watch_process,
)
from tests.model_server import Reply, ToolCall, serve

KILLS = 4
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="kills, and looks into /proc"),
    pytest.mark.slow,
]


def test_a_session_that_is_killed_repeatedly_continues() -> None:
    # On some machines, every kill may come before there is anything to lose.
    for seed in range(3, 9):
        bench = Bench(kills=KILLS, seed=seed)
        bench.run()
        assert bench.faults == []
        assert bench.done == KILLS
        if sum(bench.fates.values()) > 0:
            return
    pytest.fail("no kill came while there was something to lose")


@pytest.mark.anyio
async def test_a_killed_run_is_resumed_without_a_prompt(tmp_path: Path) -> None:
    start = Reply("I start it.", tool_calls=(ToolCall("terminal", {"command": SLEEPER}),))
    flags = ("--mode", "bypass", "--allow-bypass", "--output-format", "stream-json")
    async with serve([start, Reply("It had its effect.")]) as server:
        environment = agent_environment(tmp_path, server)
        async with headless_running(
            "--session", "s1", "-p", "do it", *flags, environment=environment, cwd=tmp_path
        ) as run:
            child = watch_process(pid_in((await run.wait_for_output(rb'"pid \d+\D'))[0]))
            run.process.kill()
            with anyio.fail_after(WAIT_S):
                await run.process.wait()
        await wait_for_end(child)
        done = await run_headless("--resume", "s1", *flags, environment=environment, cwd=tmp_path)
        assert (done.code, done.report["text"]) == (0, "It had its effect.")
        assert {"type": "turn_started", "goes_on": True}.items() <= done.events[2].items()
        (outcome,) = [m for m in server.requests[-1].body["messages"] if m["role"] == "tool"]
        assert "may have taken effect" in outcome["content"]
        assert CONTINUE_NOTE in str(server.requests[-1].body)
        again = await run_headless("--resume", "s1", environment=environment, cwd=tmp_path)
        assert again.code == 2
        assert "no unfinished turn. Send a prompt." in again.errors
