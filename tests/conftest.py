"""What every test can ask for, and how far properties are tried unless a test says otherwise."""

import gc
import os
import signal

import pytest
from hypothesis import HealthCheck, settings

ASKED_EXAMPLES = os.environ.get("HERMES_TEST_EXAMPLES")
settings.register_profile(
    "hermes",
    max_examples=int(ASKED_EXAMPLES or "50"),
    derandomize=not ASKED_EXAMPLES,  # who searches gives a number; else a run is like the one before
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # it measures the machine
)
settings.load_profile("hermes")


def pytest_configure(config: pytest.Config) -> None:
    """Let programs that tests start end on a hang-up, also where the tests themselves run under `nohup`."""
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _ignore)


def _ignore(number: int, frame: object) -> None:
    """Do nothing; unlike an ignored signal, a handler is not inherited by programs."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def require_all() -> bool:
    """In CI nothing may be left out: what is not installed fails instead of being skipped."""
    return os.environ.get("HERMES_TEST_REQUIRE_ALL") == "1"


def pytest_collection_finish(session: pytest.Session) -> None:
    """Take thousands of collected tests out of the collector's sight: it would walk them during each of them."""
    gc.freeze()
