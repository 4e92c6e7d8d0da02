"""The embedded engine passes the contract tests of all engines."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from hermes_acp.core.ports.run_ports import WorkScope
from hermes_acp.core.ports.schedule_ports import Engine
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.engines.embedded import ENGINE
from hermes_acp.runs.sqlite.run_database import RunDatabase
from hermes_acp.runs.sqlite.sqlite_schema import RUNS, SCHEDULES
from tests.contract.run_answer_suite import AnswerSuite
from tests.contract.run_crash_suite import kill_workers
from tests.contract.run_drivers import ScriptedDriver
from tests.contract.run_lease_suite import LeaseSuite
from tests.contract.run_order_suite import OrderSuite
from tests.contract.run_schedule_suite import ScheduleSuite
from tests.contract.run_stage import JumpingClock, Stage, order, reached, run_ids

pytestmark = pytest.mark.anyio


class EmbeddedStage(Stage):
    """Processes that share a home."""

    def connect(self, settings: EngineSettings) -> Engine:
        return ENGINE(self.environment, self.clock, settings)


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[Stage]:
    stage = EmbeddedStage("embedded", tmp_path)
    yield stage
    await stage.aclose()


async def test_a_file_from_before_places_still_loads(stage: Stage, tmp_path: Path) -> None:
    before = RunDatabase(tmp_path / "runs.db", (*RUNS, SCHEDULES))
    columns = "id, chain, session_id, origin, spec, state, priority, not_before, created_at, updated_at"
    spec = '{"id": "old", "session_id": "ses_old", "prompt_ref": "done", "cwd": "/work"}'
    row = ("old", "ses_old", "ses_old", "", spec, "queued", 3, 0.0, 1.0, 1.0)
    await before.write(
        lambda connection: connection.execute(
            f"INSERT INTO runs ({columns}) VALUES ({','.join('?' * len(row))})", row
        )
    )
    await before.aclose()
    driver, runs = ScriptedDriver(), stage.open()
    await runs.work(driver, WorkScope("old"))
    assert driver.driven == [("old", 1)]
    await runs.start(order("new"))
    async with stage.worker() as worker:
        await reached(runs, "new", "done")
    assert run_ids(worker.driven) == ["new"]


@pytest.mark.slow
async def test_killing_workers_loses_and_duplicates_nothing(stage: Stage) -> None:
    await kill_workers(stage, number_of_runs=150, kills=12)


class StridingClock(JumpingClock):
    """A clock that advances by a second whenever it is read."""

    def now(self) -> float:
        self.offset_s += 1
        return super().now()


@pytest.mark.parametrize("seconds", range(2, 10))
async def test_a_run_that_becomes_due_between_two_reads_of_the_clock_is_driven(
    stage: Stage, seconds: int
) -> None:
    runs = stage.open()
    stage.clock = StridingClock()
    await runs.start(order("a", not_before=stage.clock.now() + seconds))
    async with stage.worker():
        await reached(runs, "a", "done")


class TestOrders(OrderSuite):
    """The order of runs."""


class TestLeases(LeaseSuite):
    """Claims: kept by live processes, lost by dead ones."""


class TestAnswers(AnswerSuite):
    """Questions of runs and their answers."""


class TestSchedules(ScheduleSuite):
    """Runs started by schedules."""
