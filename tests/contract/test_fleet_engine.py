"""Tests of a fleet beyond the contract of all engines: tenants, limits, and servers that come and go."""

import os
from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import psycopg
import pytest

from examples.fleet_demo.fleet_servers import FleetServers, TemporalServer, postgres
from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.ports.run_ports import WorkScope
from hermes_acp.runs.fleet.fleet_access import FleetAccess, schema_of
from hermes_acp.runs.fleet.fleet_profile import FleetProfile, drive_profiles
from hermes_acp.runs.fleet.postgres_database import PostgresDatabase, connect
from hermes_acp.runs.fleet.postgres_schema import MIGRATIONS
from hermes_acp.runs.tables.run_tables import last_cursor
from tests.contract.run_drivers import QUICK, ScriptedDriver
from tests.contract.run_stage import PATIENCE_S, driver_count, order, reached, run_ids
from tests.contract.test_fleet_runs import FleetStage

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
MakeStage = Callable[..., FleetStage]


@pytest.fixture(scope="module")
def temporal(tmp_path_factory: pytest.TempPathFactory) -> Generator[TemporalServer]:
    server = TemporalServer(tmp_path_factory.mktemp("temporal"))
    server.start()
    try:
        yield server
    finally:
        server.kill()


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    with postgres(tmp_path_factory.mktemp("postgres")) as uri:
        yield uri


@pytest.fixture
async def make_stage(tmp_path: Path, temporal: TemporalServer, database: str) -> AsyncGenerator[MakeStage]:
    stages: list[FleetStage] = []

    def make(name: str = "one", **fleet: object) -> FleetStage:
        servers = FleetServers(database, temporal.address)
        stages.append(FleetStage(tmp_path / name, servers, f"{name}{os.urandom(6).hex()}", **fleet))
        return stages[-1]

    yield make
    for stage in stages:
        await stage.aclose()


@asynccontextmanager
async def shared_worker(
    stages: Mapping[str, FleetStage], drivers: Mapping[str, ScriptedDriver], seats: int
) -> AsyncGenerator[None]:
    profiles = {
        FleetProfile(stage.environment, stage.clock, QUICK): drivers[name] for name, stage in stages.items()
    }
    async with background_tasks(lambda: drive_profiles(profiles, WorkScope(seats=seats))):
        yield


async def test_a_tenant_with_few_runs_does_not_wait_for_one_with_many(make_stage: MakeStage) -> None:
    """A has 60 waiting runs, B has six: all of B's are among the first 30."""
    pool = f"pool{os.urandom(4).hex()}"
    stages = {name: make_stage(name, pool=pool) for name in "ab"}
    starts: list[str] = []

    class NotingDriver(ScriptedDriver):
        def note(self, *words: object) -> None:
            if words[0] == "start":
                starts.append(str(words[1]))

    drivers = {name: NotingDriver() for name in "ab"}
    for name, number in (("a", 60), ("b", 6)):
        runs = stages[name].open()
        for each in range(number):
            await runs.start(order(f"{name}{each}", "brief"))
    async with shared_worker(stages, drivers, seats=2):
        await driver_count(drivers["b"], 6)
        await driver_count(drivers["a"], 60)
    assert len(starts) == 66
    assert max(place for place, run_id in enumerate(starts) if run_id.startswith("b")) < 30


async def test_profiles_of_different_pools_are_not_driven_together(make_stage: MakeStage) -> None:
    stages = {name: make_stage(name) for name in "ab"}
    with pytest.raises(ConfigError, match="do not share a pool"):
        async with shared_worker(stages, {name: ScriptedDriver() for name in "ab"}, seats=1):
            await anyio.sleep_forever()


async def test_the_limit_of_a_tenant_is_never_exceeded(make_stage: MakeStage) -> None:
    stage = make_stage(max_running=3)
    runs, numbers, most = stage.open(), range(60), 0
    running = 0

    class CountingDriver(ScriptedDriver):
        def note(self, *words: object) -> None:
            nonlocal running, most
            running += {"start": 1, "end": -1}.get(str(words[0]), 0)
            most = max(most, running)

    for number in numbers:
        await runs.start(order(f"run{number}", "brief"))
    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(stage.open().work, CountingDriver(), WorkScope(seats=4))
        for number in numbers:
            await reached(runs, f"run{number}", "done")
        tasks.cancel_scope.cancel()
    assert 1 < most <= 3


async def test_waiting_answers_survive_the_kill_of_the_server(
    make_stage: MakeStage, temporal: TemporalServer
) -> None:
    stage = make_stage()
    runs = stage.open()
    for number in range(20):
        await runs.start(order(f"run{number}", "ask"))
    async with stage.worker() as driver:
        for number in range(20):
            await reached(runs, f"run{number}", "input_required")
        temporal.kill()
        for number in range(20):
            await runs.signal(f"run{number}", stage.allow(f"yes {number}"))
        temporal.start()
        for number in range(20):
            await reached(runs, f"run{number}", "done")
    assert sorted(driver.answers) == sorted(f"yes {number}" for number in range(20))
    assert sorted(driver.driven) == sorted(
        (f"run{number}", epoch) for number in range(20) for epoch in (1, 2)
    )


async def test_a_drive_continues_although_temporal_is_gone_longer_than_a_lease(
    make_stage: MakeStage, temporal: TemporalServer
) -> None:
    """The claim in Postgres decides; what Temporal has given up in the meantime is not done twice."""
    stage = make_stage()
    runs = stage.open()
    await runs.start(order("a", "hold"))
    async with stage.worker() as driver:
        await driver.started["a"].wait()
        temporal.kill()
        await anyio.sleep(QUICK.lease_s * 2)
        temporal.start()
        await runs.start(order("b"))
        await reached(runs, "b", "done")
        driver.may_end["a"].set()
        view = await reached(runs, "a", "done")
    assert run_ids(driver.driven).count("a") == 1
    assert (view.attempts.epoch, view.attempts.lapses) == (1, 0)


async def test_cut_connections_to_the_database_are_reopened(make_stage: MakeStage, database: str) -> None:
    stage = make_stage()
    runs = stage.open()
    await runs.start(order("a", "hold"))
    async with stage.worker() as driver:
        await driver.started["a"].wait()
        with psycopg.connect(database, autocommit=True) as other:
            other.execute(
                """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                   WHERE application_name = 'hermes-acp' AND pid <> pg_backend_pid()"""
            )
        driver.may_end["a"].set()
        with anyio.fail_after(PATIENCE_S):
            while (view := await stage.show("a")).state != "done":
                await anyio.sleep(0.05)
    assert driver.driven == [("a", 1)]
    assert view.attempts.epoch == 1


async def test_a_process_frozen_in_a_transaction_does_not_block_the_others(database: str) -> None:
    """It holds the lock of all writers until the server ends its session, which is soon enough to keep claims."""
    schema = schema_of(f"t{os.urandom(6).hex()}")
    postgres = PostgresDatabase(database, schema, MIGRATIONS)
    await postgres.read(last_cursor)
    frozen = connect(database, schema)
    frozen.execute("BEGIN")
    frozen.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (schema,))
    await postgres.write(last_cursor)
    with pytest.raises(psycopg.Error):
        frozen.execute("SELECT 1")
    frozen.close()
    await postgres.aclose()


async def test_several_processes_create_the_tables_at_once(database: str) -> None:
    schema = schema_of(f"t{os.urandom(6).hex()}")
    databases = [PostgresDatabase(database, schema, MIGRATIONS) for _ in range(6)]
    async with anyio.create_task_group() as tasks:
        for each in databases:
            tasks.start_soon(each.read, last_cursor)
    for each in databases:
        await each.aclose()


def test_tenants_with_similar_names_have_separate_schemas() -> None:
    names = ["a-b", "a_b", "a.b", "A_b", "ab"]
    assert len({schema_of(name) for name in names}) == len(names)
    with pytest.raises(ConfigError):
        schema_of("a" * 80)


def test_the_connection_string_is_shown_without_its_password() -> None:
    access = FleetAccess("postgresql://hermes:secret@db.example/fleet")
    assert "secret" not in repr(access)


async def test_a_worker_that_does_not_serve_a_tenant_leaves_its_runs_to_others(make_stage: MakeStage) -> None:
    pool = f"pool{os.urandom(4).hex()}"
    stages = {name: make_stage(name, pool=pool) for name in "ab"}
    refused, runs = stages["b"].open(), stages["a"].open()
    async with stages["a"].worker():
        await refused.start(order("theirs"))
        await runs.start(order("ours"))
        await reached(runs, "ours", "done")
        assert (await stages["b"].show("theirs")).state == "queued"
    drivers = {name: ScriptedDriver() for name in "ab"}
    async with shared_worker(stages, drivers, seats=1):
        await reached(refused, "theirs", "done")
    assert drivers["b"].driven == [("theirs", 1)]
