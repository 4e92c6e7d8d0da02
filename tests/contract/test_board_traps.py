"""Failures known from other boards and schedulers: each test is named after one, and rules it out."""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest

from examples.fleet_demo.fleet_servers import FleetServers, fleet_servers
from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.app.app import App
from hermes_acp.config.environment import environment_of
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.events import TurnStarted
from hermes_acp.core.ports.boards.card_actions import AddCard
from hermes_acp.core.ports.boards.cards import Actor, Card, CardWork
from hermes_acp.core.ports.run_ports import RunView, WorkScope
from hermes_acp.core.ports.schedule_ports import RunTemplate, Schedule, Timing
from hermes_acp.runs.board.board_service import BoardService
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.engines.embedded import ENGINE as EMBEDDED
from hermes_acp.runs.run_service import RunRequest
from hermes_acp.runs.sqlite.run_database import RunDatabase
from hermes_acp.runs.sqlite.sqlite_schema import MIGRATIONS
from hermes_acp.runs.tables.run_claims import claim_next
from hermes_acp.runs.tables.table_connection import TableConnection, TableDatabase
from hermes_acp.storage.transcript import Transcript
from tests.contract.run_drivers import LINGERING_S, QUICK, ScriptedDriver
from tests.contract.run_schedule_suite import hourly, occurred
from tests.contract.run_stage import PATIENCE_S, Stage, order, reached, run_ids
from tests.contract.test_embedded_runs import EmbeddedStage
from tests.contract.test_fleet_runs import FleetStage
from tests.conversations.app_scene import RealClock, Scene, plain_history
from tests.conversations.scripted_provider import Pause, call, step

pytestmark = pytest.mark.anyio
ENGINES = ["embedded", pytest.param("fleet", marks=pytest.mark.slow)]
SLOTS = 4
ANN = Actor("person", "ann")


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Generator[FleetServers]:
    with fleet_servers(tmp_path_factory.mktemp("fleet")) as running:
        yield running


@pytest.fixture(params=ENGINES)
async def stage(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Stage]:
    if request.param == "embedded":
        yield EmbeddedStage("embedded", tmp_path)
        return
    servers = request.getfixturevalue("servers")
    stage = FleetStage(tmp_path / "home", servers, f"t{tmp_path.name}", max_running=SLOTS)
    yield stage
    await stage.aclose()


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = Scene(tmp_path.resolve())
    scene.clock = RealClock()
    return scene


@asynccontextmanager
async def database_of(stage: Stage) -> AsyncGenerator[TableDatabase]:
    """Open the database of an engine as another process would."""
    if isinstance(stage, FleetStage):
        from hermes_acp.runs.fleet.fleet_profile import FleetProfile

        database = FleetProfile(stage.environment, stage.clock, QUICK).database
    else:
        database = RunDatabase(stage.home / "runs.db", MIGRATIONS)
    try:
        yield database
    finally:
        await database.aclose()


async def first_started(run_id: str, *drivers: ScriptedDriver) -> None:
    """Wait until one of the drivers has started a run."""
    async with anyio.create_task_group() as waiting:

        async def wait(driver: ScriptedDriver) -> None:
            await driver.started[run_id].wait()
            waiting.cancel_scope.cancel()

        for driver in drivers:
            waiting.start_soon(wait, driver)


async def test_the_heartbeat_did_not_extend_the_claim(stage: Stage) -> None:
    runs = stage.open()
    await runs.start(order("a", "hold"))
    async with stage.worker() as first, stage.worker() as second:
        await first_started("a", first, second)
        await anyio.sleep(QUICK.lease_s * 2)
        first.may_end["a"].set()
        second.may_end["a"].set()
        view = await reached(runs, "a", "done")
    assert first.driven + second.driven == [("a", 1)]
    assert view.attempts.lapses == 0


async def test_a_new_claim_inherited_an_old_heartbeat_and_the_live_worker_was_killed(stage: Stage) -> None:
    runs = stage.open()
    await runs.start(order("a", "hold"))
    with stage.process() as process:
        await process.wrote("start a 1")
        process.stop()
        async with stage.worker() as second, stage.worker() as third:
            await first_started("a", second, third)
            await anyio.sleep(QUICK.lease_s * 1.5)
            for driver in (second, third):
                driver.may_end["a"].set()
            view = await reached(runs, "a", "done")
    assert len(second.driven + third.driven) == 1
    assert view.attempts.lapses == 1


async def test_a_slow_model_lost_its_claim(scene: Scene) -> None:
    """A model is silent for two lease periods in its own session, while another worker would take the run."""
    silence = Pause()
    scene.provider.plays(step(silence, "At last."))
    app = scene.open_app()
    try:
        first, second, other = (
            EMBEDDED(environment_of(scene.variables), scene.clock, QUICK) for _ in range(3)
        )
        await app.run_service.start(RunRequest("Think.", str(scene.project), id="a"))
        rival = ScriptedDriver()
        async with background_tasks(app.run, lambda: first.work(app.run_service.driver(), WorkScope())):
            await silence.reached.wait()
            async with background_tasks(lambda: second.work(rival, WorkScope())):
                await anyio.sleep(QUICK.lease_s * 2)
                silence.go.set()
                view = await reached(other, "a", "done")
        for engine in (first, second, other):
            await engine.aclose()
    finally:
        await app.aclose()
    assert rival.driven == []
    assert (view.attempts.epoch, view.attempts.lapses) == (1, 0)


async def test_a_looping_worker_never_went_stale(stage: Stage) -> None:
    """Its process is alive and renews the claim, but the work makes no progress: these are two different things."""
    runs = stage.open()
    await runs.start(order("stuck", "hold"))
    await runs.start(order("busy", "progress"))
    settings = EngineSettings(lease_s=0.9, heartbeat_s=0.1, stall_s=0.5, poll_s=0.2, idle_poll_s=0.2)
    async with stage.worker(settings) as driver:
        view = await reached(runs, "stuck", "failed")
        assert view.failure == "stalled"
        driver.may_end["busy"].set()
        await reached(runs, "busy", "done")
    assert driver.cancelled == ["stuck"]


async def test_lapses_counted_as_failures(stage: Stage) -> None:
    """This many crashes would park the run; expired claims do not, however often they expire."""
    watchful = EngineSettings(lease_s=0.45, heartbeat_s=0.15, poll_s=0.1, idle_poll_s=0.1)
    dawdling = EngineSettings(lease_s=30, heartbeat_s=10, poll_s=0.1, idle_poll_s=0.1)
    runs = stage.open()
    await runs.start(order("a", "hold"))
    async with stage.worker(watchful, places=("elsewhere",)), stage.worker(dawdling) as driver:
        with anyio.fail_after(PATIENCE_S):
            while len(driver.driven) <= watchful.max_crashes + 1:
                await anyio.sleep(0.01)
        driver.may_end["a"].set()
        view = await reached(runs, "a", "done", "parked")
    assert view.state == "done"
    assert view.attempts.crashes == 0
    assert view.attempts.lapses > watchful.max_crashes


async def test_heartbeat_above_a_third_of_the_lease() -> None:
    with pytest.raises(ConfigError):
        EngineSettings(lease_s=9, heartbeat_s=3.1)
    EngineSettings(lease_s=9, heartbeat_s=3)


async def test_a_claim_reported_and_rolled_back(stage: Stage) -> None:
    """A server that fails over can lose a transaction that it had confirmed."""
    runs = stage.open()
    await runs.start(order("a", "linger"))  # The first drive ends after the second one has started.

    def roll_back(connection: TableConnection) -> None:
        connection.execute("UPDATE runs SET state = 'queued', holder = '', epoch = 0 WHERE id = ?", ("a",))

    async with stage.worker() as driver:
        await driver.started["a"].wait()
        async with database_of(stage) as database:
            await database.write(roll_back)
        with anyio.fail_after(PATIENCE_S):
            while driver.driven != [("a", 1), ("a", 1)] or driver.cancelled != ["a"]:
                await anyio.sleep(0.01)
        await anyio.sleep(LINGERING_S + QUICK.heartbeat_s * 3)
        driver.may_end["a"].set()
        await reached(runs, "a", "done")
        await runs.start(order("b"))
        await reached(runs, "b", "done")
    assert run_ids(driver.driven) == ["a", "a", "b"]


async def test_a_claim_kept_though_its_commit_was_reported_as_failed(stage: Stage) -> None:
    """The other half of an uncertain commit: a worker releases its own claim that it does not know about."""
    runs = stage.open()
    async with stage.worker() as driver, database_of(stage) as database:
        await runs.start(order("before", "hold"))
        await driver.started["before"].wait()
        view = await runs.show("before")
        assert view
        holder, now = view.holder, stage.clock.now()
        later = order("a", not_before=now + 3600)
        await runs.start(later)
        claim = await database.write(
            lambda connection: claim_next(connection, holder, now + 3601, WorkScope("a"))
        )
        assert claim
        stage.clock.offset_s = 3602
        driver.may_end["before"].set()
        view = await reached(runs, "a", "done")
    assert driver.driven == [("before", 1), ("a", 2)]
    assert (view.attempts.crashes, view.attempts.lapses) == (0, 0)


async def test_a_stale_job_kept_its_slot_forever(stage: Stage) -> None:
    """The runs of a dead worker occupy the fleet's limit, and their sessions, only until its death is noticed."""
    runs = stage.open()
    for number in range(SLOTS):
        await runs.start(order(f"stale{number}", "hold"))
    with stage.process() as process:
        for number in range(SLOTS):
            await process.wrote(f"start stale{number} 1")
        await runs.start(order("same_session", session_id="ses_stale0"))
        await runs.start(order("other"))
        process.kill()
    async with stage.worker() as driver:
        for number in range(SLOTS):
            driver.may_end[f"stale{number}"].set()
        for name in ("other", "same_session"):
            await reached(runs, name, "done")
    assert sorted(run_ids(driver.driven)) == ["other", "same_session", *(f"stale{n}" for n in range(SLOTS))]


async def test_cron_fired_three_hours_early_after_a_restart(stage: Stage) -> None:
    """A worker in a time zone three hours away neither moves the times of a schedule nor starts it early."""
    engine = stage.open()
    schedule = Schedule("job", Timing("0 7 * * *", tz="Europe/Berlin"), RunTemplate("done", "/work"))
    added = await engine.schedules.add(schedule)
    hour = await engine.schedules.add(msgspec.structs.replace(hourly(), id="hour"))
    for name, zone in (("first", "America/Sao_Paulo"), ("second", "Europe/Moscow")):
        with stage.process(name, TZ=zone) as process:
            await engine.start(order(name))
            await process.wrote(f"end {name} 1")
    async with stage.worker():
        await engine.start(order("here"))
        await reached(engine, "here", "done")
    assert await stage.open().schedules.show("job") == added
    assert await stage.open().schedules.show("hour") == hour
    assert await engine.schedules.history("job") == await engine.schedules.history("hour") == []


async def test_one_shots_vanished(stage: Stage) -> None:
    """A one-time schedule whose time passes while no worker is running is made up for once."""
    engine = stage.open()
    at = stage.clock.now() + 60
    await engine.schedules.add(Schedule("job", Timing(at=at), RunTemplate("done", "/work")))
    stage.clock.offset_s = 10 * 86400
    async with stage.worker() as driver:
        (started,) = await occurred(engine, 1)
        await reached(engine, started.run_id, "done")
    async with stage.worker() as again:
        await engine.start(order("other"))
        await reached(engine, "other", "done")
    view = await engine.schedules.show("job")
    assert view
    assert view.next_at is None
    assert run_ids(driver.driven + again.driven) == [started.run_id, "other"]


async def test_a_worker_completed_its_own_card_unreviewed(scene: Scene) -> None:
    """A person reviews the result before the card is done, whatever state an agent requests."""
    states = ("done", "merging", "approve", "parked")
    attempts = [call("card", state, action=state, text="Done!") for state in states]
    scene.provider.plays(
        step(*attempts, call("card", "result", action="result", text="Done!")), step("Done.")
    )
    app = scene.open_app()
    try:
        async with background_tasks(app.keep, app.run_service.work, app.board_coordinator().keep):
            await app.board_service.create("b")
            work = CardWork(str(scene.project), worktree="same")
            await app.board_service.act("b", AddCard("Work", "Please work.", "ready", work), ANN)
            card = await worked_on(app.board_service, "1")
    finally:
        await app.aclose()
    assert (card.state, card.notes.result) == ("review", "Done!")
    outcomes = [each for each in plain_history(scene.provider.requests[1]) if each.startswith("card:")]
    assert len(outcomes) == len(states) + 1
    assert [each for each in outcomes if each == "card: Card 1: running."] == outcomes[-1:]


async def test_sessions_resumed_by_folder_instead_of_id(scene: Scene) -> None:
    """A run that waited continues in its own session, not in the newest one of its folder."""
    scene.provider.plays(step("I write.", call("write_file", path="made.txt", content="made\n")))
    async with driving(scene) as app:
        await app.run_service.start(RunRequest("Do it.", str(scene.project), id="a"))
        view = await ended_or_waiting(app, "a")
        assert view.state == "input_required"
    scene.provider.plays(step("Something else."), step("Wrote it."))
    async with scene.editor() as editor:
        newer = await editor.new_session(scene.project)
        await editor.prompt(newer, "Something else?")
    before = scene.record_of(newer).read_bytes()
    async with driving(scene) as app:
        await app.run_service.answer("a", "allow_once", by="ann")
        assert (await ended_or_waiting(app, "a")).state == "done"
    assert scene.record_of(newer).read_bytes() == before
    events = Transcript.read_events(scene.record_of(view.order.session_id))
    assert [each.run_id for each in events if isinstance(each, TurnStarted)] == ["a", "a"]
    assert "user: Do it." in plain_history(scene.provider.requests[-1])


async def worked_on(boards: BoardService, card_id: str) -> Card:
    """Wait until the work on a card has ended."""
    with anyio.fail_after(PATIENCE_S):
        async with boards.watch("b", 0) as changes:
            async for _ in changes:
                card = (await boards.board("b")).cards.get(card_id)
                if card and card.attempt and not card.attempt.is_open:
                    return card
    raise AssertionError


@asynccontextmanager
async def driving(scene: Scene) -> AsyncGenerator[App]:
    """Start a process that drives runs."""
    app = scene.open_app()
    try:
        async with background_tasks(app.keep, app.run_service.work):
            yield app
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()


async def ended_or_waiting(app: App, run_id: str) -> RunView:
    """Wait until a run has ended or waits."""
    return await reached(app.run_service.engine, run_id, "input_required", "done", "failed", "parked")
