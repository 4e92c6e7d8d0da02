"""The log of a board in Postgres keeps the contract of all logs, and outlives its server's end."""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import psycopg
import pytest

from examples.fleet_demo.fleet_servers import postgres
from hermes_acp.config.environment import environment_of
from hermes_acp.core.ports.boards.board_ports import BoardLogs
from hermes_acp.runs.fleet.boards.postgres_boards import PostgresBoardLogs
from hermes_acp.runs.fleet.boards.shared_boards import share_boards
from hermes_acp.runs.fleet.fleet_access import DATABASE_VARIABLE, schema_of
from tests.architecture.sources import ROOT
from tests.contract.board_log_suite import BoardLogSuite, OpenLogs, StartWriter

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
SECRET = "pass-word-of-ann"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with postgres(tmp_path_factory.mktemp("postgres")) as uri:
        yield uri


@pytest.fixture
def tenant() -> str:
    return f"boards{os.urandom(6).hex()}"


class Machines:
    """Machines of one profile: each has a home of its own, and all share a database."""

    def __init__(self, folder: Path, uri: str, tenant: str) -> None:
        self.folder = folder
        self.uri = uri
        self.schema = schema_of(tenant)
        self._tenant = tenant
        self._opened: list[PostgresBoardLogs] = []

    def home(self, name: str) -> Path:
        home = self.folder / name
        home.mkdir(exist_ok=True)
        (home / "config.yaml").write_text(f"fleet: {{tenant: {self._tenant}}}")
        return home

    def open(self, name: str, uri: str = "") -> PostgresBoardLogs:
        home = self.home(name)
        environment = environment_of({"HERMES_HOME": str(home), DATABASE_VARIABLE: uri or self.uri})
        self._opened.append(share_boards(environment, home / "boards"))
        return self._opened[-1]

    def execute(self, statement: str) -> None:
        with psycopg.connect(self.uri, autocommit=True) as connection:
            connection.execute(f"SET search_path TO {self.schema}")  # pyright: ignore
            connection.execute(statement)  # pyright: ignore

    async def aclose(self) -> None:
        for each in self._opened:
            await each.aclose()


@pytest.fixture
async def machines(tmp_path: Path, database: str, tenant: str) -> AsyncGenerator[Machines]:
    machines = Machines(tmp_path, database, tenant)
    yield machines
    await machines.aclose()


@pytest.fixture
def open_logs(machines: Machines) -> OpenLogs:
    async def open_them() -> BoardLogs:
        return machines.open(f"machine_{os.urandom(3).hex()}")

    return open_them


@pytest.fixture
def start_writer(machines: Machines) -> StartWriter:
    def start(name: str, count: int) -> subprocess.Popen[str]:
        home = machines.home(name)
        command = [sys.executable, "-m", "tests.contract.board_writer", str(home), name, str(count)]
        variables = {**os.environ, DATABASE_VARIABLE: machines.uri}
        return subprocess.Popen(command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, text=True)

    return start


class TestPostgresLog(BoardLogSuite):
    """What every log does."""
