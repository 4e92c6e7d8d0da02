"""Measure the embedded run engine: latency from enqueueing to start, throughput, and the cost of an idle worker.

python -m bench.runs [--runs 500] [--idle 20]
python -m bench.runs --processes 4 [--runs 1000]
With --processes, that many workers in separate processes share the runs, and each run must be claimed once.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import anyio

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import environment_of
from hermes_acp.core.ports.run_ports import Done, DriveOutcome, Lease, RunFilter, RunOrder, WorkScope
from hermes_acp.runs.engine_choice import open_engine


class NotingDriver:
    """Records when each run starts."""

    def __init__(self) -> None:
        self.started_at: dict[str, float] = {}

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        self.started_at[order.id] = time.perf_counter()
        return Done()


def order(number: int) -> RunOrder:
    return RunOrder(f"run{number}", f"ses_{number}", "prompt", "/")


async def measure(home: Path, runs: int, idle_s: float) -> None:
    """Print the figures. The runs are enqueued through a separate database connection, as by another process."""
    driver = NotingDriver()
    client, worker = (
        open_engine(environment_of({"HERMES_HOME": str(home)}), SystemClock()),
        open_engine(environment_of({"HERMES_HOME": str(home)}), SystemClock()),
    )

    async def work() -> None:
        await worker.work(driver, WorkScope())

    async def done(number: int) -> None:
        while len(await client.list(RunFilter(states=("done",), limit=number))) < number:
            await anyio.sleep(0.01)

    async with background_tasks(work):
        latencies: list[float] = []
        for number in range(50):
            begun = time.perf_counter()
            await client.start(order(number))
            await done(number + 1)
            latencies.append(driver.started_at[f"run{number}"] - begun)
        print(f"enqueue to start   {statistics.median(latencies) * 1000:6.1f} ms (median of 50)")
        begun_at, before = time.perf_counter(), _cpu_s()
        await anyio.sleep(idle_s)
        used = (_cpu_s() - before) / (time.perf_counter() - begun_at)
        print(f"idle worker        {used:6.2%} of a core over {idle_s:g} s")
    for number in range(50, 50 + runs):
        await client.start(order(number))
    async with background_tasks(work):
        begun = time.perf_counter()
        await done(50 + runs)
        print(
            f"runs per second    {runs / (time.perf_counter() - begun):6.0f} ({runs} queued runs, one worker)"
        )
    await client.aclose()
    await worker.aclose()


class JournalDriver:
    """Writes a line for each run that it drives."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        with self._journal.open("a") as stream:
            stream.write(f"{order.id}\n")
        return Done()


async def work_in(home: Path, journal: Path) -> None:
    """Drive runs until this process is killed."""
    journal.touch()
    engine = open_engine(environment_of({"HERMES_HOME": str(home)}), SystemClock())
    await engine.work(JournalDriver(journal), WorkScope())


async def share(home: Path, runs: int, processes: int) -> bool:
    """Have several processes drive runs; print the duration and return whether each run was claimed once."""
    engine = open_engine(environment_of({"HERMES_HOME": str(home)}), SystemClock())
    journals = [home / f"journal{number}" for number in range(processes)]
    command = [sys.executable, "-m", "bench.runs", "--worker", str(home), "--journal"]
    workers = [subprocess.Popen([*command, str(journal)]) for journal in journals]
    try:
        while not all(journal.exists() for journal in journals):
            await anyio.sleep(0.05)
        begun = time.perf_counter()
        for number in range(runs):
            await engine.start(order(number))
        while len(await engine.list(RunFilter(states=("done",), limit=runs))) < runs:
            await anyio.sleep(0.05)
        took_s = time.perf_counter() - begun
    finally:
        for worker in workers:
            worker.kill()
            worker.wait()
    claims = [Counter(journal.read_text().split()) for journal in journals]
    total = sum(claims, Counter[str]())
    shares = ", ".join(str(each.total()) for each in claims)
    print(
        f"{runs} runs by {processes} processes   {took_s:6.1f} s, from the first to be enqueued ({shares} each)"
    )
    is_once = len(total) == runs and set(total.values()) == {1}
    print(
        "Each was claimed once."
        if is_once
        else f"Not claimed once: {total.most_common(5)}, {len(total)} runs"
    )
    await engine.aclose()
    return is_once


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Parse the flags and measure in a separate home folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--idle", type=float, default=20.0)
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--journal", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        anyio.run(work_in, options.worker, options.journal)
        return
    with tempfile.TemporaryDirectory() as home:
        if options.processes:
            sys.exit(not anyio.run(share, Path(home), options.runs, options.processes))
        anyio.run(measure, Path(home), options.runs, options.idle)


if __name__ == "__main__":
    main()
