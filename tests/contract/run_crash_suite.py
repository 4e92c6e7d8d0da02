"""Contract tests for engines: workers are killed at random; no run is lost or has two workers at once."""

import random
from pathlib import Path

import anyio

from hermes_acp.core.ports.run_ports import RunFilter
from tests.contract.run_stage import PATIENCE_S, Stage, WorkerProcess, order


async def kill_workers(stage: Stage, number_of_runs: int, kills: int) -> None:
    """Start runs, kill the workers that drive them, and check how the last worker continues."""
    rolls, runs = random.Random(5), stage.open()
    for number in range(number_of_runs):
        await runs.start(order(f"run{number}", "brief"))
    journals: list[Path] = []

    async def killed_worker(name: str) -> None:
        for number in range(kills // 2):
            process = WorkerProcess(stage, f"{name}{number}")
            journals.append(process.journal)
            await process.wrote("ready")
            with anyio.fail_after(PATIENCE_S):
                while not any(line.startswith("start") for line in process.lines()):
                    if not await runs.list(RunFilter(states=("queued",), limit=1)):
                        break  # Nothing is left to start.
                    await anyio.sleep(0.005)
            await anyio.sleep(rolls.random() * 0.3)
            process.kill()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(killed_worker, "a")
        tasks.start_soon(killed_worker, "b")
    async with stage.worker() as driver:
        with anyio.fail_after(3 * PATIENCE_S):
            while True:
                for parked in await runs.list(RunFilter(states=("parked",), limit=number_of_runs)):
                    await runs.retry(parked.order.id)
                done = await runs.list(RunFilter(states=("done",), limit=number_of_runs))
                if len(done) == number_of_runs:
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
