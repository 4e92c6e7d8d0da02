"""Contract tests for engines: live processes keep claims, and dead ones lose them."""

import signal

import anyio

from hermes_acp.core.ports.run_ports import WorkScope
from hermes_acp.runs.engine_settings import EngineSettings
from tests.contract.run_drivers import PATIENT, QUICK, ScriptedDriver
from tests.contract.run_stage import PATIENCE_S, Stage, order, reached, run_ids


class LeaseSuite:
    """The test file of an engine derives from it and has a fixture `stage`."""

    async def test_one_of_eight_workers_gets_a_run(self, stage: Stage) -> None:
        runs = stage.open(PATIENT)
        drivers: list[ScriptedDriver] = []
        async with anyio.create_task_group() as tasks:
            for _ in range(8):
                drivers.append(ScriptedDriver())
                tasks.start_soon(stage.open(PATIENT).work, drivers[-1], WorkScope())
            for number in range(40):
                await runs.start(order(f"run{number}"))
            for number in range(40):
                await reached(runs, f"run{number}", "done")
            tasks.cancel_scope.cancel()
        driven = sorted(each for driver in drivers for each in driver.driven)
        assert driven == sorted((f"run{number}", 1) for number in range(40))

    async def test_a_worker_that_shuts_down_returns_its_runs(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("a", "hold"))
        async with stage.worker() as first:
            await first.started["a"].wait()
        view = await runs.show("a")
        assert view
        assert (view.state, view.attempts.crashes, view.attempts.lapses) == ("queued", 0, 0)
        async with stage.worker() as second:
            await second.started["a"].wait()
            second.may_end["a"].set()
            await reached(runs, "a", "done")
        assert second.driven == [("a", 2)]

    async def test_clock_jumps_lose_no_claim(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("a", "progress"))
        async with stage.worker() as first, stage.worker() as second:
            for jump_s in (2 * 86400, -2 * 86400):
                stage.clock.offset_s += jump_s
                await runs.start(order(f"after{jump_s}"))
                await reached(runs, f"after{jump_s}", "done")
                await anyio.sleep(QUICK.heartbeat_s * 2)
            for driver in (first, second):
                driver.may_end["a"].set()
            await reached(runs, "a", "done")
        assert run_ids(first.driven + second.driven).count("a") == 1

    async def test_the_run_of_a_killed_worker_moves_at_once(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("a", "hold"))
        with stage.process() as process:
            await process.wrote("start a 1")
            async with stage.worker(
                EngineSettings(lease_s=3600, heartbeat_s=600, poll_s=0.1, idle_poll_s=0.1)
            ) as driver:
                process.kill()
                await driver.started["a"].wait()
                driver.may_end["a"].set()
                view = await reached(runs, "a", "done")
        assert driver.driven == [("a", 2)]
        assert (view.attempts.crashes, view.attempts.lapses) == (0, 0)

    async def test_a_run_that_kills_its_process_is_parked(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("poison", "hold"))
        await runs.start(order("other", not_before=stage.clock.now() + 1e9))
        for epoch in (1, 2, 3):
            with stage.process(f"worker{epoch}") as process:
                await process.wrote(f"start poison {epoch}")
        async with stage.worker() as driver:
            view = await reached(runs, "poison", "parked")
            assert view.attempts.crashes == 3
            assert view.sentence == "The process that worked on this run was killed 3 times."
            await runs.retry("poison")
            await driver.started["poison"].wait()

    async def test_a_killed_agent_is_a_crash_although_its_worker_lives(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("a", "crash"))
        async with stage.worker() as driver:
            view = await reached(runs, "a", "parked")
        assert (view.attempts.crashes, view.attempts.lapses, view.attempts.epoch) == (3, 0, 3)
        assert len(driver.driven) == 3

    async def test_the_runs_of_a_suspended_worker_are_taken_over_and_fenced(self, stage: Stage) -> None:
        """The actions of the first worker afterwards have no effect."""
        runs = stage.open()
        await runs.start(order("a", "hold"))
        with stage.process() as process:
            await process.wrote("start a 1")
            process.send(signal.SIGSTOP)
            async with stage.worker() as driver:
                await driver.started["a"].wait()
                view = await runs.show("a")
                assert view
                assert (view.attempts.lapses, view.attempts.epoch) == (1, 2)
                process.send(signal.SIGCONT)
                await process.wrote("cancelled a 1")
                driver.may_end["a"].set()
                assert (await reached(runs, "a", "done")).attempts.epoch == 2
        assert driver.driven == [("a", 2)]

    async def test_the_presence_of_a_worker_is_reported(self, stage: Stage) -> None:
        runs = stage.open()
        assert not await runs.has_worker()
        with stage.process() as process:
            await process.wrote("ready")
            with anyio.fail_after(PATIENCE_S):
                while not await runs.has_worker():
                    await anyio.sleep(0.01)
            assert not await runs.has_worker("board")
            process.kill()
            assert not await runs.has_worker()
