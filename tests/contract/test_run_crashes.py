"""Workers killed at random moments, many times: no run is lost, and none is ever worked on by two at once."""

import random
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.ports.run_ports import RunFilter
from tests.contract.run_stage import PATIENCE_S, WorkerProcess, order
from tests.contract.test_embedded_runs import EmbeddedStage

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
RUNS = 150
KILLS = 12


async def test_killed_workers_lose_nothing_and_double_nothing(tmp_path: Path) -> None:
    rolls, stage = random.Random(5), EmbeddedStage("embedded", tmp_path)
    runs = stage.open()
    for number in range(RUNS):
        await runs.start(order(f"run{number}", "brief"))
    journals: list[Path] = []

    async def killed_worker(name: str) -> None:
        for number in range(KILLS // 2):
            process = WorkerProcess(stage, f"{name}{number}")
            journals.append(process.journal)
            await process.wrote("ready")
            await anyio.sleep(rolls.random() * 0.6)
            process.kill()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(killed_worker, "a")
        tasks.start_soon(killed_worker, "b")
    async with stage.worker() as driver:
        with anyio.fail_after(PATIENCE_S):
            while True:
                for parked in await runs.list(RunFilter(states=("parked",), limit=RUNS)):
                    await runs.retry(parked.order.id)
                done = await runs.list(RunFilter(states=("done",), limit=RUNS))
                if len(done) == RUNS:
                    break
                await anyio.sleep(0.05)
    claims = [
        tuple(line.split()[1:])
        for path in journals
        for line in path.read_text().splitlines()
        if "start" in line
    ]
    claims += [(run_id, str(epoch)) for run_id, epoch in driver.driven]
    assert len(claims) == len(set(claims))
    crashes = sum(view.attempts.epoch - 1 for view in done)
    assert crashes > 0
    for view in done:
        epochs = sorted(int(epoch) for run_id, epoch in claims if run_id == view.order.id)
        assert epochs[-1] == view.attempts.epoch
