"""The embedded engine keeps the contract of all engines."""

from pathlib import Path

import pytest

from hermes_acp.core.ports.schedule_ports import Engine
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.engines.embedded import ENGINE
from tests.contract.run_answer_suite import AnswerSuite
from tests.contract.run_drivers import QUICK
from tests.contract.run_lease_suite import LeaseSuite
from tests.contract.run_order_suite import OrderSuite
from tests.contract.run_schedule_suite import ScheduleSuite
from tests.contract.run_stage import Stage

pytestmark = pytest.mark.anyio


class EmbeddedStage(Stage):
    """Processes that share a home."""

    def open(self, settings: EngineSettings = QUICK) -> Engine:
        return ENGINE(self.home, self.clock, settings)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return EmbeddedStage("embedded", tmp_path)


class TestOrders(OrderSuite):
    """What is driven when."""


class TestLeases(LeaseSuite):
    """What becomes of claims."""


class TestAnswers(AnswerSuite):
    """What becomes of questions."""


class TestSchedules(ScheduleSuite):
    """What the clock starts."""
