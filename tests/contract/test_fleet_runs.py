"""The fleet engine passes the contract tests of all engines, with real Postgres and Temporal servers."""

import json
import os
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest

from examples.fleet_demo.fleet_servers import FleetServers, fleet_servers
from hermes_acp.config.environment import environment_of
from hermes_acp.core.ports.run_ports import RunMessage, RunView
from hermes_acp.core.ports.schedule_ports import Engine
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.engines.temporal import ENGINE
from hermes_acp.runs.fleet.fleet_access import DATABASE_VARIABLE
from tests.contract.run_answer_suite import AnswerSuite
from tests.contract.run_crash_suite import kill_workers
from tests.contract.run_drivers import QUICK
from tests.contract.run_lease_suite import LeaseSuite
from tests.contract.run_order_suite import OrderSuite
from tests.contract.run_schedule_suite import ScheduleSuite
from tests.contract.run_stage import Stage

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


class FleetStage(Stage):
    """Processes that share a tenant of a fleet."""

    orders_exactly = False

    def __init__(self, home: Path, servers: FleetServers, tenant: str, **fleet: object) -> None:
        super().__init__("temporal", home)
        home.mkdir(exist_ok=True)
        settings = {"address": servers.address, "tenant": tenant, **fleet}
        (home / "config.yaml").write_text(json.dumps({"fleet": settings}))
        self.environment = environment_of(
            {**os.environ, "HERMES_HOME": str(home), DATABASE_VARIABLE: servers.database}
        )

    def connect(self, settings: EngineSettings) -> Engine:
        return ENGINE(self.environment, self.clock, settings)

    async def show(self, run_id: str) -> RunView:
        """Return a run as a new process sees it."""
        engine = ENGINE(self.environment, self.clock, QUICK)
        try:
            view = await engine.show(run_id)
        finally:
            await engine.aclose()
        assert view
        return view

    @staticmethod
    def allow(text: str) -> RunMessage:
        """Approve the question of a run that asks."""
        return RunMessage("call_1", "allow_once", text)


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Generator[FleetServers]:
    with fleet_servers(tmp_path_factory.mktemp("fleet")) as running:
        yield running


@pytest.fixture
async def stage(tmp_path: Path, servers: FleetServers) -> AsyncGenerator[Stage]:
    stage = FleetStage(tmp_path / "home", servers, f"t{os.urandom(8).hex()}")
    yield stage
    await stage.aclose()


async def test_killing_workers_loses_and_duplicates_nothing(stage: Stage) -> None:
    await kill_workers(stage, number_of_runs=60, kills=8)


class TestOrders(OrderSuite):
    """The order of runs."""


class TestLeases(LeaseSuite):
    """Claims: kept by live processes, lost by dead ones."""


class TestAnswers(AnswerSuite):
    """Questions of runs and their answers."""


class TestSchedules(ScheduleSuite):
    """Runs started by schedules."""
