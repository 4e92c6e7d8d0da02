"""Folders that follow the runs of a fleet: two homes act as two machines, with real git, Postgres and Temporal."""

import json
import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from examples.fleet_demo.fleet_servers import FleetServers, fleet_servers
from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import environment_of
from hermes_acp.core.ports.run_ports import (
    Done,
    DriveOutcome,
    InputRequired,
    Lease,
    RunMessage,
    RunOrder,
    WorkScope,
)
from hermes_acp.core.ports.schedule_ports import Engine
from hermes_acp.runs.engines.temporal import ENGINE
from hermes_acp.runs.fleet.fleet_access import DATABASE_VARIABLE
from tests.contract.run_drivers import QUICK
from tests.contract.run_stage import order, reached

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
ALLOW = RunMessage("call_1", "allow_once")
AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.org")


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *AUTHOR, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


class Editor:
    """Adds a line to `work.txt` on each drive; asks first, and ends with the answer."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.driven: list[str] = []
        self.news: list[str] = []
        self.may_end = anyio.Event()

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        self.driven.append(order.id)
        self.news.append(order.news)
        with Path(order.cwd, "work.txt").open("a") as stream:
            stream.write(f"{order.id} on {self.name}\n")
        lease.note_progress()
        if order.prompt_ref == "hold":
            await self.may_end.wait()
        if order.prompt_ref == "ask" and not lease.messages:
            return InputRequired(("call_1",), "May it?")
        return Done()


class Machines:
    """The machines of one fleet, whose states are stored in `store`."""

    def __init__(self, folder: Path, servers: FleetServers, *, move_after_s: float = 60.0) -> None:
        self._folder = folder
        self._servers = servers
        self._fleet = {
            "address": servers.address,
            "tenant": f"t{os.urandom(8).hex()}",
            "workspaces": str(folder / "store.git"),
            "move_after_seconds": move_after_s,
        }
        self.project = folder / "project"
        self.project.mkdir()
        git(folder, "init", "--quiet", "--bare", "store.git")
        git(self.project, "init", "--quiet", "-b", "main")
        (self.project / "read.txt").write_text("read me\n")
        (self.project / ".gitignore").write_text("build\n")
        git(self.project, "add", "--all")
        git(self.project, "commit", "--quiet", "-m", "Begin")

    def engine(self, name: str) -> Engine:
        home = self._folder / name
        home.mkdir(exist_ok=True)
        (home / "config.yaml").write_text(json.dumps({"fleet": self._fleet}))
        variables = {**os.environ, "HERMES_HOME": str(home), DATABASE_VARIABLE: self._servers.database}
        return ENGINE(environment_of(variables), SystemClock(), QUICK)

    @asynccontextmanager
    async def machine(self, name: str, seats: int = 4) -> AsyncGenerator[tuple[Engine, Editor]]:
        """Drive runs on a machine, which disappears at the end of the block."""
        engine, driver = self.engine(name), Editor(name)

        async def work() -> None:
            await engine.work(driver, WorkScope(seats=seats))

        try:
            async with background_tasks(work):
                while not await engine.has_worker():
                    await anyio.sleep(0.02)
                yield engine, driver
        finally:
            with anyio.CancelScope(shield=True):
                await engine.aclose()

    def lines(self) -> list[str]:
        return (self.project / "work.txt").read_text().splitlines()


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Generator[FleetServers]:
    with fleet_servers(tmp_path_factory.mktemp("fleet")) as running:
        yield running


async def test_another_machine_rebuilds_the_folder_and_tells_the_model(
    tmp_path: Path, servers: FleetServers
) -> None:
    machines = Machines(tmp_path, servers)
    (machines.project / ".env").write_text("KEY=secret\n")
    (machines.project / "build").mkdir()
    git(machines.project, "checkout", "--quiet", "-b", "feature")
    async with machines.machine("one") as (engine, _):
        await engine.start(order("a", "ask", cwd=str(machines.project)))
        await reached(engine, "a", "input_required")
    shutil.move(machines.project, tmp_path / "lost")
    async with machines.machine("two") as (engine, driver):
        await engine.signal("a", ALLOW)
        await reached(engine, "a", "done")
        assert "on another machine" in driver.news[0]
        await engine.start(order("b", cwd=str(machines.project)))
        await reached(engine, "b", "done")
        assert driver.news[1] == ""
    assert machines.lines() == ["a on one", "a on two", "b on two"]
    assert sorted(os.listdir(machines.project)) == [".git", ".gitignore", "read.txt", "work.txt"]
    assert git(machines.project, "status", "--porcelain", "--branch") == "## feature\n?? work.txt\n"
    assert "secret" not in git(tmp_path / "store.git", "log", "--all", "--patch")


async def test_a_machine_whose_folder_was_deleted_rebuilds_it(tmp_path: Path, servers: FleetServers) -> None:
    machines = Machines(tmp_path, servers)
    async with machines.machine("one") as (engine, driver):
        await engine.start(order("a", "ask", cwd=str(machines.project)))
        await reached(engine, "a", "input_required")
        shutil.rmtree(machines.project)
        await engine.signal("a", ALLOW)
        await reached(engine, "a", "done")
        assert "was missing on this machine and was rebuilt" in driver.news[1]
        await engine.start(order("b", cwd=str(machines.project)))
        await reached(engine, "b", "done")
        assert driver.news[2] == ""
    assert machines.lines() == ["a on one", "a on one", "b on one"]
    assert git(machines.project, "status", "--porcelain", "--branch") == "## main\n?? work.txt\n"


async def test_the_first_machine_gets_the_other_ones_changes(tmp_path: Path, servers: FleetServers) -> None:
    machines = Machines(tmp_path, servers)
    async with machines.machine("one") as (engine, _):
        await engine.start(order("a", "ask", cwd=str(machines.project)))
        await reached(engine, "a", "input_required")
    shutil.move(machines.project, tmp_path / "of-one")
    async with machines.machine("two") as (engine, _):
        await engine.start(order("b", cwd=str(machines.project)))
        await reached(engine, "b", "done")
    shutil.move(machines.project, tmp_path / "of-two")
    shutil.move(tmp_path / "of-one", machines.project)
    async with machines.machine("one") as (engine, driver):
        await engine.signal("a", ALLOW)
        await reached(engine, "a", "done")
        assert "on another machine" in driver.news[0]
    assert machines.lines() == ["a on one", "b on two", "a on one"]


async def test_runs_wait_for_the_machine_with_their_folder_and_move_after_a_while(
    tmp_path: Path, servers: FleetServers
) -> None:
    machines = Machines(tmp_path, servers, move_after_s=2.0)
    async with machines.machine("one", seats=1) as (engine, one), machines.machine("two") as (_, two):
        first = order("first", cwd=str(machines.project))
        await engine.start(first)
        await reached(engine, "first", "done")
        owner, other = (one, two) if one.driven else (two, one)
        for number in range(6):
            await engine.start(order(f"run{number}", cwd=str(machines.project)))
            await reached(engine, f"run{number}", "done")
        assert len(owner.driven) == 7
        assert not other.driven


async def test_runs_wait_for_a_busy_machine_only_so_long(tmp_path: Path, servers: FleetServers) -> None:
    machines = Machines(tmp_path, servers, move_after_s=1.0)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    async with machines.machine("one", seats=1) as (engine, one):
        await engine.start(order("first", cwd=str(machines.project)))
        await reached(engine, "first", "done")
        await engine.start(order("long", "hold", cwd=str(elsewhere)))
        await reached(engine, "long", "running")
        async with machines.machine("two") as (_, two):
            await engine.start(order("second", cwd=str(machines.project)))
            await reached(engine, "second", "done")
            assert two.driven == ["second"]
            assert two.news == [""]  # Both have the same folder here.
        one.may_end.set()
        await reached(engine, "long", "done")


async def test_a_folder_with_local_changes_is_left_alone(tmp_path: Path, servers: FleetServers) -> None:
    machines = Machines(tmp_path, servers)
    async with machines.machine("one") as (engine, _):
        await engine.start(order("a", "ask", cwd=str(machines.project)))
        await reached(engine, "a", "input_required")
    (
        machines.project / ".git" / "hermes-acp-workspace.json"
    ).unlink()  # As on a machine that never had a state.
    (machines.project / "read.txt").write_text("mine\n")
    async with machines.machine("two") as (engine, driver):
        await engine.signal("a", ALLOW)
        view = await reached(engine, "a", "failed")
        assert not driver.driven
    assert "has changes that the run's stored state does not have" in view.sentence
    assert (machines.project / "read.txt").read_text() == "mine\n"
