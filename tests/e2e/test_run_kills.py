"""The serving process is killed at random moments of a run: nothing is lost, and no effect happens twice."""

import random
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from bench.resident_crash import Bench
from tests.e2e.agent_process import agent_environment, configure
from tests.e2e.http_serving import serving
from tests.e2e.test_runs_command import command, state_of
from tests.model_server import Reply, Script, ToolCall, serve
from tests.model_server.requests import Recorded

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
STEPS, KILLS = 10, 4


def outcomes_in(request: Recorded) -> list[str]:
    """Return the outcomes of the calls in a request's history."""
    messages = msgspec.convert(request.body["messages"], list[dict[str, Any]])
    return [str(each["content"]) for each in messages if each["role"] == "tool"]


def next_step(request: Recorded) -> Reply:
    """Make the next call; a call that did not happen is made again."""
    outcomes = [text for text in outcomes_in(request) if "nothing happened" not in text]
    if len(outcomes) == STEPS:
        return Reply("All done.")
    return Reply(
        tool_calls=(ToolCall("terminal", {"command": f"echo {len(outcomes)} >> log.txt; sleep 0.1"}),)
    )


async def test_a_run_survives_its_process_many_times(home: Path, workspace: Path) -> None:
    configure(home, "allow_bypass: true\nmode: bypass\n")
    rolls = random.Random(3)
    async with serve(Script(choose=next_step)) as server:
        environment = agent_environment(home, server)
        await command("start", "--id", "r", "-p", "count", environment=environment, cwd=workspace)
        for number in range(KILLS):
            async with serving(environment, home / f"serving{number}") as running:
                await anyio.sleep(0.5 + rolls.random())
                running.process.kill()
                await running.wait()
        async with serving(environment, home / "last"):
            shown = await state_of("r", environment, workspace, "done", "parked", "failed")
            if shown["state"] == "parked":
                await command("retry", "r", environment=environment, cwd=workspace)
                shown = await state_of("r", environment, workspace, "done", "failed")
        assert shown["state"] == "done"
        assert msgspec.convert(shown["attempts"], dict[str, int])["epoch"] > 1
    lines = (workspace / "log.txt").read_text().split()
    assert len(lines) == len(set(lines))
    assert [*map(int, lines)] == sorted(map(int, lines))
    outcomes = outcomes_in(server.requests[-1])
    in_doubt = sum("may have taken effect" in text for text in outcomes)
    assert STEPS - in_doubt <= len(lines) <= STEPS


async def test_turns_runs_questions_and_schedules_survive_killed_resident_processes() -> None:
    bench = Bench(kills=3, seed=2)
    await bench.run()
    assert bench.faults == []
    assert bench.counts["run done"] == 9
