"""The fixtures for all tests, and the default number of examples for property tests."""

import gc
import os
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
LONGEST_FIRST = (
    "test_vscode_window",
    "test_acpx",
    "test_golden_processes",
    "test_vscode_install",
    "test_workspace_backends",
    "test_hostile_pages_under_attack",
    "test_vscode_first_run",
    "test_vscode_extension",
    "test_vscode_panel",
    "test_escape_contest",
    "test_crash",
    "test_searches_under_attack",
    "test_commands_under_attack",
    "test_stored_homes",
    "test_headless_failures",
    "test_approvals_under_attack",
    "test_mcp_offers",
    "test_mcp_servers",
    "test_homes_under_attack",
    "test_many_connections",
    "test_headless_budgets",
    "test_mcp_sign_in_process",
    "test_lsp_edges",
    "test_examples",
    "test_shared_homes_under_attack",
    "test_http_foreign_clients",
    "test_chat",
    "test_headless",
    "test_phoenix",
    "test_http_conversation",
    "test_unasked_commands_are_confined",
    "test_rules_under_attack",
    "test_browser",
    "test_browser_under_attack",
    "test_ends_in_any_state",
    "test_kin_by_meaning",
    "test_jupyterlab",
    "test_marimo",
    "test_demo",
    "test_editor_checks",
    "test_macos_calls",
    "test_own_tool_cells",
    "test_ends",
    "test_lsp",
    "test_tools_under_attack",
    "test_full_screen_chat",
)
"""The slowest test files, longest first (`pytest --durations`); one that starts last keeps all workers waiting."""

ASKED_EXAMPLES = os.environ.get("HERMES_TEST_EXAMPLES")
settings.register_profile(
    "hermes",
    max_examples=int(ASKED_EXAMPLES or "50"),
    derandomize=not ASKED_EXAMPLES,  # A number asks for a random search; otherwise every run is the same.
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],  # It measures the machine.
)
settings.load_profile("hermes")


def pytest_configure(config: pytest.Config) -> None:
    """Make programs that tests start end on signals, even if the tests run under `nohup` or in the background."""
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, _ignore)


def _ignore(number: int, frame: object) -> None:
    """Do nothing; unlike an ignored signal, a handler is not inherited by programs."""


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session")
def require_all() -> bool:
    """Fail instead of skipping if something is not installed, in CI."""
    return os.environ.get("HERMES_TEST_REQUIRE_ALL") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run the slowest files first, then those with the most processes; keep the order within a file."""
    places = {name: at for at, name in enumerate(LONGEST_FIRST)}
    folders = ("e2e", "attacks", "contract", "architecture", "conversations", "unit")
    rest = {name: len(places) + at for at, name in enumerate(folders)}
    items.sort(key=lambda item: places.get(item.path.stem, rest.get(item.path.parts[len(TESTS.parts)], -1)))


def pytest_collection_finish(session: pytest.Session) -> None:
    """Hide thousands of collected tests from the garbage collector, which would traverse them during each test."""
    gc.freeze()
