"""The processes for the tests of run engines."""

import os
import signal
import subprocess
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import msgspec

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.config.environment import environment_of
from hermes_acp.core.ports.run_ports import RunOrder, Runs, RunState, RunView, WorkScope
from hermes_acp.core.ports.schedule_ports import Engine
from hermes_acp.runs.engine_settings import EngineSettings
from tests.architecture.sources import ROOT
from tests.contract.run_drivers import QUICK, ScriptedDriver

PATIENCE_S = 30


class JumpingClock:
    """A clock whose time of day jumps when a test says so; the monotonic one is real."""

    def __init__(self) -> None:
        self.offset_s = 0.0

    def now(self) -> float:
        return self.monotonic() + 1_900_000_000 + self.offset_s

    def monotonic(self) -> float:
        return time.monotonic()


class Stage(ABC):
    """A test's processes: `open` returns a new process's view of the engine, and `aclose` ends them all."""

    orders_exactly = True
    """True if queued runs start exactly in order; servers' queues keep the order only approximately."""

    def __init__(self, engine: str, home: Path) -> None:
        self.engine = engine
        self.home = home
        self.clock = JumpingClock()
        self.environment = environment_of({**os.environ, "HERMES_HOME": str(home)})
        self._opened: list[Engine] = []

    @abstractmethod
    def connect(self, settings: EngineSettings) -> Engine:
        """Return the engine of this home."""

    def open(self, settings: EngineSettings = QUICK) -> Engine:
        """Return the engine as a new process sees it."""
        self._opened.append(self.connect(settings))
        return self._opened[-1]

    async def aclose(self) -> None:
        """Close what each process opened."""
        for engine in self._opened:
            await engine.aclose()

    @asynccontextmanager
    async def worker(
        self, settings: EngineSettings = QUICK, seats: int = 4, places: Sequence[str] = ("",)
    ) -> AsyncGenerator[ScriptedDriver]:
        """Drive runs in a worker in this process."""
        runs, driver = self.open(settings), ScriptedDriver()

        async def work() -> None:
            await runs.work(driver, WorkScope(seats=seats, places=tuple(places)))

        try:
            async with background_tasks(work):
                yield driver
        finally:
            with anyio.CancelScope(shield=True):
                await runs.aclose()

    @contextmanager
    def process(self, name: str = "worker", **variables: str) -> Generator["WorkerProcess"]:
        """Run a worker in a separate process."""
        process = WorkerProcess(self, name, **variables)
        try:
            yield process
        finally:
            process.kill()


class WorkerProcess:
    """A worker process with the journal of what it drove."""

    def __init__(self, stage: Stage, name: str, **variables: str) -> None:
        self.journal = stage.home / f"{name}.journal"
        self.journal.touch()
        command = [sys.executable, "-m", "tests.contract.run_drivers"]
        self._process = subprocess.Popen(
            [*command, stage.engine, str(stage.home), str(self.journal)],
            cwd=ROOT,
            env={**stage.environment.variables, **variables},
        )

    def lines(self) -> list[str]:
        return self.journal.read_text().splitlines()

    async def wrote(self, line: str) -> None:
        with anyio.fail_after(PATIENCE_S):
            while line not in self.lines():
                await anyio.sleep(0.01)

    def send(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def stop(self) -> None:
        self._process.send_signal(signal.SIGSTOP)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(10)


def order(run_id: str, prompt_ref: str = "done", **changes: object) -> RunOrder:
    fields = {
        "id": run_id,
        "prompt_ref": prompt_ref,
        "session_id": f"ses_{run_id}",
        "cwd": "/work",
        **changes,
    }
    return msgspec.convert(fields, RunOrder)


async def reached(runs: Runs, run_id: str, *states: RunState) -> RunView:
    """Wait until a run is in one of these states."""
    with anyio.fail_after(PATIENCE_S):
        async with runs.watch(0) as changes:
            async for change in changes:
                if change.run_id == run_id and change.state in states:
                    view = await runs.show(run_id)
                    assert view
                    if view.state in states:
                        return view
    raise AssertionError


def run_ids(runs: list[tuple[str, int]]) -> list[str]:
    return [run_id for run_id, _ in runs]


async def driver_count(driver: ScriptedDriver, number: int) -> None:
    """Wait until a driver has been called that many times."""
    with anyio.fail_after(PATIENCE_S):
        while len(driver.driven) < number:
            await anyio.sleep(0.01)
