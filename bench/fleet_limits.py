"""Test a fleet on real servers: approvals that survive a kill of the Temporal server, and the limit on concurrent runs.

python -m bench.fleet_limits approvals [RUNS]
python -m bench.fleet_limits starts [STARTS [LIMIT]]
python -m bench.fleet_limits dispatches [RUNS [LIMIT]]
`approvals`: all runs are waiting for an answer when the server is killed with SIGKILL. Half of them are answered while
it is down, the others afterwards. Each must be continued once, with its own answer. `starts`: workers without limits of
their own claim short runs of a profile in Postgres, which enforces the limit; some are interrupted, which returns their
runs to the queue. The profile's limit must never be exceeded. `dispatches`: the same through Temporal, with workers
that end in the middle of their work and are replaced.
"""

import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio

from bench.board_kills import REPORT_S
from examples.fleet_demo.fleet_servers import FleetServers, TemporalServer, postgres
from hermes_acp.clock import SystemClock
from hermes_acp.core.ports.run_ports import (
    DriveOutcome,
    Lease,
    RunFilter,
    RunOrder,
    Runs,
    RunState,
    WorkScope,
)
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.postgres_database import PostgresDatabase
from hermes_acp.runs.fleet.postgres_schema import MIGRATIONS
from hermes_acp.runs.leases.leased_drive import LeasedDrive
from hermes_acp.runs.tables.run_claims import claim_next
from hermes_acp.runs.tables.run_tables import insert_run
from hermes_acp.runs.tables.table_connection import TableConnection
from tests.contract.run_drivers import ScriptedDriver
from tests.contract.run_stage import order
from tests.contract.test_fleet_runs import FleetStage

RUNS, STARTS, DISPATCHES, LIMIT = 200, 10_000, 300, 3
SEATS, WORKERS, CLAIMERS, FEED = 8, 3, 24, 500
WORKER_S = 5.0
LONG_S = 3.0
INTERRUPTED_SHARE = 0.02
LOOK_S = 0.25
WAIT_S = 3600.0


async def wait_for(runs: Runs, state: RunState, number: int) -> None:
    """Wait until the given number of runs are in a state."""
    with anyio.fail_after(WAIT_S):
        while len(await runs.list(RunFilter(states=(state,), limit=number))) < number:
            await anyio.sleep(LOOK_S)


async def approvals(folder: Path, servers: FleetServers, temporal: TemporalServer, number: int) -> list[str]:
    """Kill the Temporal server while runs wait for answers; return the faults."""
    stage = FleetStage(folder / "one", servers, "approvals")
    runs, faults = stage.open(), list[str]()
    for each in range(number):
        await runs.start(order(f"run{each}", "ask"))
    async with stage.worker(seats=SEATS) as driver:
        await wait_for(runs, "input_required", number)
        temporal.kill()
        killed_at = time.perf_counter()
        for each in range(0, number, 2):
            await runs.signal(f"run{each}", stage.allow(f"yes {each}"))
        temporal.start()
        down_s = time.perf_counter() - killed_at
        for each in range(1, number, 2):
            await runs.signal(f"run{each}", stage.allow(f"yes {each}"))
        answered_at = time.perf_counter()
        await wait_for(runs, "done", number)
        took_s = time.perf_counter() - answered_at
    drives, answers = Counter(run_id for run_id, _ in driver.driven), Counter(driver.answers)
    for each in range(number):
        if drives[f"run{each}"] != 2 or answers[f"yes {each}"] != 1:
            faults.append(f"run{each}: driven {drives[f'run{each}']} times, {answers[f'yes {each}']} answers")
    await stage.aclose()
    print(
        f"{number} waiting approvals, server down for {down_s:.1f} s, all done {took_s:.1f} s after the last answer"
    )
    return faults


class CountingDriver(ScriptedDriver):
    """Drives each run briefly and counts the concurrent runs of all workers."""

    def __init__(self, longest_s: float) -> None:
        super().__init__()
        self._longest_s = longest_s
        self._rng = random.Random(1)

    async def _drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        await anyio.sleep(self._rng.uniform(0, self._longest_s))
        return await super()._drive(order, lease)


async def starts(uri: str, number: int, limit: int) -> list[str]:
    """Claim many runs concurrently under a limit; return the faults."""
    driver, claimed, begun = CountingDriver(0.02), 0, time.perf_counter()
    rng, ended = random.Random(1), set[str]()
    database = PostgresDatabase(uri, "starts", MIGRATIONS)
    for first in range(0, number, FEED):
        orders = [order(f"run{each}") for each in range(first, min(first + FEED, number))]
        await database.write(lambda connection, orders=orders: insert_all(connection, orders))

    async def work(worker: str) -> None:
        own = PostgresDatabase(uri, "starts", MIGRATIONS)
        try:
            while len(ended) < number:
                now = time.time()
                claim = await own.write(
                    lambda connection, now=now: claim_next(
                        connection, worker, now, WorkScope(), max_running=limit
                    )
                )
                if claim is None:
                    await anyio.sleep(rng.uniform(0, 0.02))
                    continue
                drive = LeasedDrive(claim, own, SystemClock(), EngineSettings())
                if rng.random() < INTERRUPTED_SHARE:
                    drive.stop()
                if await drive.run(driver):
                    ended.add(claim.order.id)
        finally:
            await own.aclose()

    async with anyio.create_task_group() as tasks:
        for each in range(CLAIMERS):
            tasks.start_soon(work, f"worker{each}")
        while len(ended) < number:
            claimed = max(claimed, await database.read(count_running))
            await anyio.sleep(0.01)
    took_s = time.perf_counter() - begun
    total = await database.read(count_starts)
    await database.aclose()
    print(f"{number} runs, limit {limit}, {CLAIMERS} workers: {total} starts in {took_s:.0f} s")
    print(f"at most {driver.most_running} driven concurrently, at most {claimed} claimed concurrently")
    return over_limit(limit, driver.most_running, claimed)


def insert_all(connection: TableConnection, orders: Sequence[RunOrder]) -> None:
    """Insert runs into the queue."""
    for each in orders:
        insert_run(connection, each, time.time())


def count_running(connection: TableConnection) -> int:
    """Return how many runs are currently claimed."""
    return connection.execute("SELECT count(*) FROM runs WHERE state = 'running'").fetchone()[0]


def count_starts(connection: TableConnection) -> int:
    """Return the total number of claims."""
    return connection.execute("SELECT sum(epoch) FROM runs").fetchone()[0]


def over_limit(limit: int, *found: int) -> list[str]:
    """Return a fault for each count that exceeds the limit."""
    return [f"the limit of {limit} was exceeded: {each}" for each in found if each > limit]


async def dispatches(folder: Path, servers: FleetServers, number: int, limit: int) -> list[str]:
    """Drive runs through Temporal under a limit; return the faults."""
    stage = FleetStage(folder / "one", servers, "dispatches", max_running=limit)
    runs, driver = stage.open(), CountingDriver(LONG_S)
    rng, begun, shown, claimed = random.Random(1), time.perf_counter(), 0.0, 0
    for each in range(number):
        await runs.start(order(f"run{each}"))

    async def keep_worker() -> None:
        """Run one worker after another, each for a few seconds."""
        while True:
            with anyio.move_on_after(rng.uniform(WORKER_S, 3 * WORKER_S)):
                await stage.open(EngineSettings()).work(driver, WorkScope(seats=SEATS))

    async with anyio.create_task_group() as tasks:
        for _ in range(WORKERS):
            tasks.start_soon(keep_worker)
        while len(await runs.list(RunFilter(states=("done",), limit=number))) < number:
            running = await runs.list(RunFilter(states=("running",), limit=1000))
            claimed = max(claimed, len(running))
            if time.perf_counter() - shown > REPORT_S:
                shown = time.perf_counter()
                print(f"  {shown - begun:6.0f} s: {len(driver.driven)} starts", flush=True)
            await anyio.sleep(LOOK_S)
        tasks.cancel_scope.cancel()
    await stage.aclose()
    took_s = time.perf_counter() - begun
    print(f"{number} runs through Temporal, limit {limit}: {len(driver.driven)} starts in {took_s:.0f} s")
    print(f"at most {driver.most_running} driven concurrently, at most {claimed} claimed concurrently")
    return over_limit(limit, driver.most_running, claimed)


async def main(arguments: list[str]) -> int:
    """Run one of the three tests on its own servers; return the exit code."""
    what, numbers = arguments[0], [int(each) for each in arguments[1:]]
    with TemporaryDirectory(prefix="fleet-limits-") as made:
        folder = Path(made).resolve()
        temporal = TemporalServer(folder)
        temporal.start()
        try:
            with postgres(folder / "postgres") as uri:
                servers = FleetServers(uri, temporal.address)
                if what == "approvals":
                    faults = await approvals(folder, servers, temporal, *numbers or [RUNS])
                elif what == "starts":
                    faults = await starts(uri, *(*numbers, *(STARTS, LIMIT)[len(numbers) :]))
                else:
                    numbers = [*numbers, *(DISPATCHES, LIMIT)[len(numbers) :]]
                    faults = await dispatches(folder, servers, *numbers)
        finally:
            temporal.kill()
    print("\n".join(faults) or "Nothing was lost, and no limit was exceeded.")
    return bool(faults)


if __name__ == "__main__":
    if sys.argv[1:2] not in (["approvals"], ["starts"], ["dispatches"]):
        sys.exit(__doc__)
    sys.exit(anyio.run(main, sys.argv[1:]))
