"""The evaluation: its tasks are solvable and start unsolved, its statistics are right, and two runs of it agree."""

import subprocess
from pathlib import Path

import pytest

from bench.evaluate import TASKS, evaluate_scripted
from bench.evaluation import AgentStart, Budget, Row, Task, is_done, read_tasks, wilson
from tests.e2e.agent_process import COMMAND

TASKS_OF_OURS = read_tasks(TASKS)


def lay_out(task: Task, folder: Path) -> None:
    for name, text in task.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize("task", TASKS_OF_OURS, ids=lambda task: task.name)
def test_a_task_is_unsolved_until_it_is_solved(task: Task, tmp_path: Path) -> None:
    lay_out(task, tmp_path)
    assert not is_done(task, tmp_path)
    subprocess.run(["bash", "-c", task.solution], cwd=tmp_path, check=True)
    assert is_done(task, tmp_path)


def test_intervals_are_wilson_intervals() -> None:
    low, high = wilson(7, 10)
    assert (round(low, 4), round(high, 4)) == (0.3968, 0.8922)
    assert wilson(0, 10)[0] == 0.0
    assert wilson(10, 10)[1] == 1.0
    assert wilson(0, 0) == (0.0, 1.0)


@pytest.mark.anyio
@pytest.mark.slow
async def test_two_runs_agree_and_only_permission_makes_a_difference() -> None:
    tasks = TASKS_OF_OURS[:2]

    async def run() -> list[Row]:
        start = AgentStart((COMMAND,), {"HERMES_ACP_UNSTABLE": "1"})
        rows = await evaluate_scripted(start, tasks, ("own", "allow"), Budget(120))
        return [row.without_time() for row in rows]

    first = await run()
    assert await run() == first
    assert [(row.policy, row.passed) for row in first] == [
        ("own", False),
        ("own", False),
        ("allow", True),
        ("allow", True),
    ]
    assert all(row.reason == "end_turn" and row.questions == 1 and row.tokens for row in first)


@pytest.mark.anyio
async def test_an_agent_that_cannot_start_is_a_result_too() -> None:
    rows = await evaluate_scripted(AgentStart(("false",), {}), TASKS_OF_OURS[:1], ("allow",), Budget(60))
    assert [(row.passed, row.reason) for row in rows] == [(False, "AgentGone")]
