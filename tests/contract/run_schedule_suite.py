"""Contract tests for engines: schedules start runs at the right time, in any process."""

import anyio
import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.run_ports import RunFilter
from hermes_acp.core.ports.schedule_ports import (
    Engine,
    LatePolicy,
    Occurrence,
    Overlap,
    RunTemplate,
    Schedule,
    Timing,
)
from tests.contract.run_stage import PATIENCE_S, Stage, order, reached


def hourly(prompt_ref: str = "done", late: LatePolicy = "once", overlap: Overlap = "skip") -> Schedule:
    return Schedule("job", Timing("0 * * * *"), RunTemplate(prompt_ref, "/work"), late, 0.0, overlap)


async def next_time(stage: Stage, engine: Engine, hours: int = 1) -> None:
    """Set the clock to a moment after the next due time."""
    view = await engine.schedules.show("job")
    assert view
    assert view.next_at
    stage.clock.offset_s += view.next_at - stage.clock.now() + 3600 * (hours - 1) + 1


async def occurred(engine: Engine, number: int) -> list[Occurrence]:
    """Wait until the history has that many lines; return them, oldest first."""
    with anyio.fail_after(PATIENCE_S):
        while len(found := await engine.schedules.history("job")) < number:
            await anyio.sleep(0.01)
    assert len(found) == number
    return [*reversed(found)]


class ScheduleSuite:
    """The test file of an engine derives from it and has a fixture `stage`."""

    async def test_a_due_time_starts_one_run_however_many_workers_check(self, stage: Stage) -> None:
        engine = stage.open()
        await engine.schedules.add(hourly())
        async with stage.worker() as first, stage.worker() as second:
            for number in (1, 2, 3):
                await next_time(stage, engine)
                (*_, latest) = await occurred(engine, number)
                assert latest.fate == "started"
                view = await reached(engine, latest.run_id, "done")
                assert view.order.origin == "schedule:job"
        assert len(first.driven + second.driven) == 3

    async def test_an_absence_causes_one_run_and_a_report(self, stage: Stage) -> None:
        engine = stage.open()
        await engine.schedules.add(hourly())
        await next_time(stage, engine, hours=50)
        async with stage.worker():
            missed, started = await occurred(engine, 2)
            await reached(engine, started.run_id, "done")
        assert (missed.fate, missed.count) == ("missed", 49)
        assert (started.fate, started.count) == ("started", 1)

    async def test_overlap_skip(self, stage: Stage) -> None:
        engine = stage.open()
        await engine.schedules.add(hourly("hold"))
        async with stage.worker() as driver:
            await next_time(stage, engine)
            (first,) = await occurred(engine, 1)
            await driver.started[first.run_id].wait()
            await next_time(stage, engine)
            assert [each.fate for each in await occurred(engine, 2)] == ["started", "skipped"]
            driver.may_end[first.run_id].set()

    async def test_overlap_queue(self, stage: Stage) -> None:
        engine = stage.open()
        await engine.schedules.add(hourly("hold", overlap="queue"))
        async with stage.worker() as driver:
            await next_time(stage, engine)
            (first,) = await occurred(engine, 1)
            await driver.started[first.run_id].wait()
            await next_time(stage, engine)
            _, second = await occurred(engine, 2)
            view = await engine.show(second.run_id)
            assert view
            assert view.state == "queued"
            driver.may_end[first.run_id].set()
            await driver.started[second.run_id].wait()
            driver.may_end[second.run_id].set()
            await reached(engine, second.run_id, "done")
        assert driver.most_running == 1

    async def test_overlap_cancel(self, stage: Stage) -> None:
        engine = stage.open()
        await engine.schedules.add(hourly("hold", overlap="cancel"))
        async with stage.worker() as driver:
            await next_time(stage, engine)
            (first,) = await occurred(engine, 1)
            await driver.started[first.run_id].wait()
            await next_time(stage, engine)
            _, second = await occurred(engine, 2)
            await driver.started[second.run_id].wait()
            await reached(engine, first.run_id, "stopped")
            driver.may_end[second.run_id].set()
            await reached(engine, second.run_id, "done")

    async def test_a_pause_starts_nothing_and_is_reported(self, stage: Stage) -> None:
        engine = stage.open()
        await engine.schedules.add(hourly())
        assert (await engine.schedules.pause("job")).is_paused
        async with stage.worker():
            await next_time(stage, engine, hours=3)
            await engine.start(order("other"))
            await reached(engine, "other", "done")
            assert not (await engine.schedules.resume("job")).is_paused
            (paused,) = await occurred(engine, 1)
            assert (paused.fate, paused.count) == ("paused", 3)

    async def test_run_now_is_independent_of_due_times(self, stage: Stage) -> None:
        engine = stage.open()
        added = await engine.schedules.add(hourly())
        run = await engine.schedules.run_now("job")
        async with stage.worker():
            await reached(engine, run.order.id, "done")
        assert await engine.schedules.show("job") == added

    async def test_changes_to_a_missing_schedule_are_rejected(self, stage: Stage) -> None:
        engine = stage.open()
        schedules = engine.schedules
        for change in (schedules.pause, schedules.resume, schedules.remove, schedules.run_now):
            with pytest.raises(BadRequest):
                await change("job")
        await schedules.add(hourly())
        for bad in (
            hourly(),
            Schedule("other", Timing("0 99 * * *"), RunTemplate("p", "/")),
            Schedule("other", Timing(at=stage.clock.now() - 1), RunTemplate("p", "/")),
            Schedule("../x", Timing("0 * * * *"), RunTemplate("p", "/")),
        ):
            with pytest.raises(BadRequest):
                await schedules.add(bad)
        await schedules.remove("job")
        assert await schedules.list() == []
        assert await engine.list(RunFilter()) == []
