"""The limits of a run: steps, tokens, money and time, each with its exit code and a final answer."""

from pathlib import Path

import pytest

from tests.e2e.agent_process import agent_environment, run_headless
from tests.model_server import Reply, Script, ToolCall, Usage, serve

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


async def test_max_steps_ends_a_run_that_continues_too_long(home: Path, workspace: Path) -> None:
    look = [Reply(tool_calls=(ToolCall("terminal", {"command": f"echo {n}"}),)) for n in range(2)]
    async with serve([*look, Reply("As far as I came.")]) as server:
        arguments = ("--mode", "auto", "--max-steps", "2", "--output-format", "json", "-p", "go")
        done = await run_headless(*arguments, environment=agent_environment(home, server), cwd=workspace)
    assert (done.code, done.report["reason"], done.report["steps"]) == (1, "out_of_steps", 3)
    assert ["tools" in request.body for request in server.requests] == [True, True, False]
    assert done.report["text"] == "As far as I came."
    assert "the limit per turn is 2" in done.report["error"]


async def test_max_tokens_ends_a_run_that_uses_more(home: Path, workspace: Path) -> None:
    look = Reply(tool_calls=(ToolCall("read_file", {"path": "a.py"}),), usage=Usage(900, 100))
    async with serve([look, Reply("Enough.")]) as server:
        arguments = ("--max-tokens", "1000", "--output-format", "json", "-p", "go")
        done = await run_headless(*arguments, environment=agent_environment(home, server), cwd=workspace)
    assert (done.code, done.report["reason"], done.report["text"]) == (1, "out_of_tokens", "Enough.")


async def test_max_cost_ends_a_run_that_costs_more(home: Path, workspace: Path) -> None:
    dear = Reply(tool_calls=(ToolCall("read_file", {"path": "a.py"}),), usage=Usage(100_000, 1000))
    async with serve(Script([dear], pick="cycle")) as server:
        arguments = ("--max-cost", "0.01", "--output-format", "json", "-p", "go")
        environment = agent_environment(home, server, "anthropic", HERMES_MODEL="claude-sonnet-5")
        done = await run_headless(*arguments, environment=environment, cwd=workspace)
    assert (done.code, done.report["reason"]) == (1, "out_of_money"), done.errors
    assert done.report["cost_usd"] > 0.01
    assert len(server.requests) == 2


async def test_a_command_that_uses_all_the_time_leaves_enough_for_a_final_answer(
    home: Path, workspace: Path
) -> None:
    start = ToolCall("terminal", {"command": "echo begun; sleep 300"})
    for timeout_s in ("5", "25"):  # A slow machine needs longer to start the command.
        async with serve([Reply(tool_calls=(start,)), Reply("As far as I came.")]) as server:
            arguments = ("--mode", "auto", "--timeout", timeout_s, "--output-format", "json", "-p", "go")
            done = await run_headless(*arguments, environment=agent_environment(home, server), cwd=workspace)
        if done.report["text"] and "begun" in str(server.requests[-1].body):
            break
    assert (done.code, done.report["reason"], done.report["text"]) == (
        124,
        "out_of_time",
        "As far as I came.",
    )
    assert "begun" in str(server.requests[1].body)


async def test_a_cost_limit_that_cannot_be_enforced_is_reported(home: Path, workspace: Path) -> None:
    async with serve([Reply("Done.")]) as server:
        arguments = ("--max-cost", "0.00002", "-p", "go")
        done = await run_headless(*arguments, environment=agent_environment(home, server), cwd=workspace)
    assert done.code == 0
    assert "is not known, so the limit of $0.00002 cannot be enforced" in done.errors
