"""What every test can ask for."""

import os

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def require_all() -> bool:
    """In CI nothing may be left out: what is not installed fails instead of being skipped."""
    return os.environ.get("HERMES_TEST_REQUIRE_ALL") == "1"
