"""The harness for verifiers: ten toy tasks are rolled out and scored, a question ends one, a session is continued."""

import sys
from pathlib import Path

import pytest

from bench.evaluate import TASKS
from bench.evaluation import ScriptedSolver, read_tasks
from tests.architecture.sources import ROOT
from tests.e2e.agent_process import COMMAND, run_command
from tests.model_server import Script, serve

PYTHON = Path(sys.prefix, "verifiers", "bin", "python")

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.slow,
    pytest.mark.skipif(not PYTHON.is_file(), reason="needs verifiers: run tests/install.sh all"),
]


async def test_ten_toy_tasks_are_rolled_out_and_scored(home: Path) -> None:
    tasks = read_tasks(TASKS)
    environment = {
        "HOME": str(home),
        "PATH": f"{PYTHON.parent}:/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": str(ROOT / "examples" / "verifiers"),
        "TEST_MODEL_SECRET": "sk-test",
    }
    async with serve(Script(choose=ScriptedSolver(tasks))) as server:
        done = await run_command(
            *(str(Path(__file__).with_name("verifiers_rollouts.py")), server.openai_base_url, COMMAND),
            environment=environment,
            cwd=home,
            command=str(PYTHON),
        )
    assert done.code == 0, done.errors
    assert len(done.report["all"]) == len(tasks) == 10
    for rollout in done.report["all"]:
        assert (rollout["passed"], rollout["ok"]) == (1.0, True), rollout["errors"]
        assert rollout["metrics"] == {"run_done": 1.0, "run_questions": 0.0}
        assert {"system", "user", "assistant", "tool"} == set(rollout["roles"])
        assert not Path("/tmp/hermes-acp-rollouts", rollout["id"]).exists()
    asked, continued = done.report["asked"], done.report["continued"]
    assert (asked["ok"], asked["passed"]) == (True, 0.0), asked["errors"]
    assert asked["metrics"] == {"run_done": 0.0, "run_questions": 1.0}
    assert (continued["ok"], continued["passed"]) == (True, 1.0), continued["errors"]
    assert tasks[0].prompt in continued["said"][0]
    assert continued["said"][-1] == "Thank you."
