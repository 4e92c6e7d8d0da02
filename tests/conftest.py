"""What every test can ask for, and how far properties are tried unless a test says otherwise."""

import gc
import os

import pytest
from hypothesis import settings

settings.register_profile(
    "house", max_examples=int(os.environ.get("HERMES_TEST_EXAMPLES", "50")), deadline=None
)
settings.load_profile("house")


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
