"""The task for inspect-ai: two agents get the same tasks, answers and budget, and its log records what they did."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from bench.evaluate import TASKS
from bench.evaluation import ScriptedSolver, read_tasks
from tests.architecture.sources import ROOT
from tests.e2e.agent_process import COMMAND, agent_environment, run_command
from tests.model_server import Script, serve

INSPECT = Path(sys.prefix, "inspect", "bin", "inspect")
NUMBER = 2
OTHER = [sys.executable, "-m", "tests.e2e.asking_sdk_agent", str(TASKS)]

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(not INSPECT.is_file(), reason="needs inspect-ai: run tests/install.sh all"),
]


async def evaluate(
    tmp_path: Path, agent: list[str], policy: str, *flags: str, environment: dict[str, str]
) -> dict[str, Any]:
    """Return inspect-ai's log of the first tasks."""
    folders = (ROOT, ROOT / "protocol", ROOT / "editor-clients" / "python")
    logs = tmp_path / policy
    done = await run_command(
        *("eval", "examples/inspect/acp_agent.py", "--model", "none"),
        *("--display", "none", "--log-dir", str(logs), "--log-format", "json", "--limit", str(NUMBER)),
        *("-T", f"agent={shlex.join(agent)}", "-T", f"policy={policy}", *flags),
        environment={**environment, "PYTHONPATH": ":".join(map(str, folders))},
        cwd=ROOT,
        command=str(INSPECT),
    )
    assert done.code == 0, done.errors
    (log,) = logs.glob("*.json")
    return json.loads(log.read_text())


def metrics_of(log: dict[str, Any]) -> dict[str, float]:
    assert log["status"] == "success"
    return {
        f"{score['name']} {name}": metric["value"]
        for score in log["results"]["scores"]
        for name, metric in score["metrics"].items()
    }


@pytest.mark.parametrize("agent", [[COMMAND], OTHER], ids=["ours", "other SDK"])
async def test_permission_makes_the_difference_for_any_agent(tmp_path: Path, agent: list[str]) -> None:
    async with serve(Script(choose=ScriptedSolver(read_tasks(TASKS)))) as server:
        environment = agent_environment(tmp_path, server)
        own = await evaluate(tmp_path, agent, "own", environment=environment)
        allowed = await evaluate(tmp_path, agent, "allow", environment=environment)
    assert metrics_of(own)["passed accuracy"] == 0.0
    assert metrics_of(allowed)["passed accuracy"] == 1.0
    assert metrics_of(own)["questions mean"] == metrics_of(allowed)["questions mean"] == 1.0
    for sample in allowed["samples"]:
        score = sample["scores"]["passes_check"]
        assert (score["answer"], score["explanation"]) == ("Done.", "end_turn")
        assert [message["role"] for message in sample["messages"]] == [
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
        assert not Path(sample["store"]["AgentRun:folder"]).exists()
    if agent == [COMMAND]:
        assert all(sample["output"]["usage"]["total_tokens"] > 0 for sample in allowed["samples"])


async def test_an_agent_that_does_not_start_is_a_result(tmp_path: Path) -> None:
    log = await evaluate(tmp_path, ["/bin/false"], "own", environment=agent_environment(tmp_path))
    assert metrics_of(log)["passed accuracy"] == 0.0
    assert all("AgentGone" in sample["scores"]["passes_check"]["explanation"] for sample in log["samples"])


async def test_an_exhausted_budget_ends_the_agent(tmp_path: Path) -> None:
    async with serve(Script(choose=ScriptedSolver(read_tasks(TASKS)))) as server:
        log = await evaluate(
            tmp_path,
            [COMMAND],
            "allow",
            "-T",
            "max_context=1",
            environment=agent_environment(tmp_path, server),
        )
    reasons = {sample["scores"]["passes_check"]["explanation"] for sample in log["samples"]}
    assert reasons == {"out_of_context"}
