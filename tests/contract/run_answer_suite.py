"""Contract tests for engines: questions, answers, stops and failures."""

import anyio
import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.run_ports import RunMessage, WorkScope
from hermes_acp.runs.tables.run_claims import MAX_STORAGE_REPEATS
from tests.contract.run_drivers import ScriptedDriver
from tests.contract.run_stage import PATIENCE_S, Stage, driver_count, order, reached, run_ids


class AnswerSuite:
    """The test file of an engine derives from it and has a fixture `stage`."""

    async def test_a_run_waits_for_an_earlier_one_that_waits_for_its_user(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("one", "ask", session_id="ses_1"))
        await runs.start(order("two", session_id="ses_1"))
        async with stage.worker() as driver:
            await reached(runs, "one", "input_required")
            await runs.start(order("other"))
            await reached(runs, "other", "done")
            assert run_ids(driver.driven) == ["one", "other"]
            await runs.signal("one", RunMessage("call_1", "allow_once"))
            await reached(runs, "two", "done")

    async def test_a_failure_is_recorded_and_can_be_retried(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("a", "fail"))
        async with stage.worker() as driver:
            view = await reached(runs, "a", "failed")
            assert (view.failure, view.sentence) == ("model", "The model is gone.")
            assert (await runs.retry("a")).state == "queued"
            await driver_count(driver, 2)
            await reached(runs, "a", "failed")
            with pytest.raises(BadRequest):
                await runs.retry("unknown")

    async def test_a_short_database_failure_fails_no_run(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("a", "once_unstored"))
        async with stage.worker() as driver:
            run = await reached(runs, "a", "done", "failed")
        assert run.state == "done"
        assert run.attempts.crashes == 0
        assert driver.driven == [("a", 1), ("a", 2)]

    async def test_a_lasting_disk_failure_fails_the_run(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("a", "unstored"))
        async with stage.worker() as driver:
            with anyio.fail_after(PATIENCE_S):
                while len(driver.driven) <= MAX_STORAGE_REPEATS:
                    stage.clock.offset_s += 60
                    await anyio.sleep(0.05)
            run = await reached(runs, "a", "failed")
        assert (run.failure, run.sentence) == ("storage", "The disk is gone.")
        assert len(driver.driven) == MAX_STORAGE_REPEATS + 1

    async def test_a_busy_session_is_retried_and_is_not_a_failure(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("a", "once_busy"))
        async with stage.worker() as driver:
            await driver.started["a"].wait()
            stage.clock.offset_s = 120
            view = await reached(runs, "a", "done")
        assert driver.driven == [("a", 1), ("a", 2)]
        assert (view.attempts.crashes, view.attempts.lapses) == (0, 0)

    async def test_an_answer_continues_the_run(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("a", "ask"))
        async with stage.worker() as driver:
            view = await reached(runs, "a", "input_required")
            assert (view.waits_for, view.sentence) == (("call_1",), "May it?")
            await runs.signal("a", RunMessage("call_1", "allow_once", "yes", "ann", 5.0))
            await reached(runs, "a", "done")
        assert driver.answers == ["yes"]

    async def test_an_answer_given_without_a_worker_waits_for_one(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("a", "ask"))
        async with stage.worker():
            await reached(runs, "a", "input_required")
        stage.clock.offset_s = 5 * 86400
        await stage.open().signal("a", RunMessage("call_1", "allow_once", "after days"))
        async with stage.worker() as driver:
            await reached(runs, "a", "done")
        assert driver.answers == ["after days"]

    async def test_only_the_first_of_two_answers_counts(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("a", "ask"))
        async with stage.worker():
            await reached(runs, "a", "input_required")
        await runs.signal("a", RunMessage("call_1", "reject_once", "no"))
        with pytest.raises(BadRequest):
            await stage.open().signal("a", RunMessage("call_1", "allow_once", "yes"))

    async def test_an_answer_to_another_question_is_rejected(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("a", "ask"))
        with pytest.raises(BadRequest):
            await runs.signal("a", RunMessage("call_1", "allow_once"))
        async with stage.worker():
            await reached(runs, "a", "input_required")
            with pytest.raises(BadRequest):
                await runs.signal("a", RunMessage("call_2", "allow_once"))

    async def test_stop_ends_a_run_in_any_state(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("queued", "hold", not_before=stage.clock.now() + 3600))
        await runs.start(order("asking", "ask"))
        await runs.start(order("running", "hold"))
        assert (await runs.stop("queued")).state == "stopped"
        async with stage.worker() as driver:
            await reached(runs, "asking", "input_required")
            assert (await runs.stop("asking")).state == "stopped"
            await driver.started["running"].wait()
            await runs.stop("running")
            await reached(runs, "running", "stopped")
            assert driver.cancelled == ["running"]
            with pytest.raises(BadRequest):
                await runs.stop("running")
        assert driver.running == 0

    async def test_one_run_in_the_foreground(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("other"))
        await runs.start(order("asking", "ask"))
        driver = ScriptedDriver()
        with anyio.fail_after(PATIENCE_S):
            await runs.work(driver, WorkScope("asking"))
        assert run_ids(driver.driven) == ["asking"]
        assert not await runs.has_worker()
        view = await runs.show("other")
        assert view
        assert view.state == "queued"
