"""Contract tests for engines: the order in which runs are driven, and their reported states."""

import anyio
import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.run_ports import RunFilter, RunState, WorkScope
from hermes_acp.runs.engine_settings import EngineSettings
from tests.contract.run_drivers import ScriptedDriver
from tests.contract.run_stage import PATIENCE_S, Stage, order, reached, run_ids


async def next_started(driver: ScriptedDriver, waiting: set[str]) -> str:
    """Wait until one of some runs has started, in whatever order the engine uses, and remove it from the set."""
    started: list[str] = []
    with anyio.fail_after(PATIENCE_S):
        await _first(driver, sorted(waiting), started)
    waiting.discard(started[0])
    return started[0]


async def _first(driver: ScriptedDriver, names: list[str], started: list[str]) -> None:
    async with anyio.create_task_group() as tasks:

        async def wait(name: str) -> None:
            await driver.started[name].wait()
            started.append(name)
            tasks.cancel_scope.cancel()

        for name in names:
            tasks.start_soon(wait, name)


class OrderSuite:
    """The test file of an engine derives from it and has a fixture `stage`."""

    async def test_a_run_is_driven_until_it_ends(self, stage: Stage) -> None:
        runs = stage.open()
        view = await runs.start(order("a"))
        assert view.state == "queued"
        async with stage.worker() as driver:
            view = await reached(runs, "a", "done")
        assert driver.driven == [("a", 1)]
        assert (view.sentence, view.attempts.crashes, view.holder) == ("All done.", 0, "")
        assert [change.state for change in await runs.changes(0)] == ["queued", "running", "done"]

    async def test_the_same_id_twice_is_one_run(self, stage: Stage) -> None:
        runs = stage.open()
        first = await runs.start(order("a"))
        again = await stage.open().start(order("a", "hold", priority=1))
        assert again == first
        async with stage.worker() as driver:
            await reached(runs, "a", "done")
            assert (await runs.start(order("a"))).state == "done"
        assert driver.driven == [("a", 1)]

    async def test_invalid_run_requests_are_rejected(self, stage: Stage) -> None:
        runs = stage.open()
        for bad in (order("../a"), order(""), order("a", priority=0), order("a", priority=6)):
            with pytest.raises(BadRequest):
                await runs.start(bad)
        assert await runs.list(RunFilter()) == []

    async def test_a_run_request_is_read_back_unchanged(self, stage: Stage) -> None:
        wanted = order(
            "a", priority=2, mode="plan", backend="docker", model="m", origin="schedule:s", place="gpu"
        )
        view = await stage.open().start(wanted)
        assert view.order == wanted
        assert (await stage.open().list(RunFilter(origin="schedule:")))[0].order == wanted

    async def test_worker_slots_are_never_exceeded_and_are_released(self, stage: Stage) -> None:
        runs = stage.open()
        for number in range(5):
            await runs.start(order(f"run{number}", "hold"))
        async with stage.worker(seats=2) as driver:
            waiting = {f"run{number}" for number in range(5)}
            held = [await next_started(driver, waiting) for _ in range(2)]
            while held:
                driver.may_end[held.pop(0)].set()
                if waiting:
                    held.append(await next_started(driver, waiting))
            for number in range(5):
                await reached(runs, f"run{number}", "done")
        assert driver.most_running == 2

    async def test_priority_comes_first_then_order(self, stage: Stage) -> None:
        runs = stage.open()
        for name, priority in (("late", 5), ("b", 3), ("c", 3), ("first", 1)):
            await runs.start(order(name, priority=priority))
        async with stage.worker(seats=1) as driver:
            for name in ("first", "b", "c", "late"):  # Any of them may be the last to end.
                await reached(runs, name, "done")
        assert sorted(run_ids(driver.driven)) == ["b", "c", "first", "late"]
        if stage.orders_exactly:
            assert run_ids(driver.driven) == ["first", "b", "c", "late"]

    async def test_runs_of_a_session_keep_their_order(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("one", "hold", session_id="ses_1"))
        await runs.start(order("two", session_id="ses_1", priority=1))
        await runs.start(order("other"))
        async with stage.worker() as driver:
            await reached(runs, "other", "done")
            with anyio.fail_after(PATIENCE_S):
                await driver.started["one"].wait()
            assert sorted(run_ids(driver.driven)) == ["one", "other"]
            driver.may_end["one"].set()
            await reached(runs, "two", "done")

    async def test_a_run_is_not_started_before_its_time(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("later", not_before=stage.clock.now() + 3600))
        await runs.start(order("now"))
        async with stage.worker() as driver:
            await reached(runs, "now", "done")
            assert run_ids(driver.driven) == ["now"]
            stage.clock.offset_s = 3601
            await reached(runs, "later", "done")

    async def test_a_later_run_of_a_session_does_not_wait_for_one_that_is_not_due(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("tomorrow", session_id="ses_1", not_before=stage.clock.now() + 86400))
        await runs.start(order("now", session_id="ses_1"))
        async with stage.worker():
            await reached(runs, "now", "done")

    async def test_a_worker_drives_only_the_runs_of_its_places(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("here", place="board"))
        await runs.start(order("gpu", place="gpu", priority=1))
        await runs.start(order("anywhere", priority=1))
        async with stage.worker(places=("board", "gpu")) as placed:
            await reached(runs, "here", "done")
            await runs.start(order("more", place="board"))
            await reached(runs, "more", "done")
            await reached(runs, "gpu", "done")
            view = await runs.show("anywhere")
            assert view
            assert view.state == "queued"
        async with stage.worker() as ordinary:
            await runs.start(order("elsewhere", place="other"))
            await reached(runs, "anywhere", "done")
        assert sorted(run_ids(placed.driven)) == ["gpu", "here", "more"]
        assert run_ids(ordinary.driven) == ["anywhere"]
        named = ScriptedDriver()
        await runs.work(named, WorkScope("elsewhere"))
        assert run_ids(named.driven) == ["elsewhere"]

    async def test_an_idle_worker_is_notified_of_a_new_run(self, stage: Stage) -> None:
        async with stage.worker(EngineSettings(poll_s=600, idle_poll_s=600)) as driver:
            runs = stage.open()
            await runs.start(order("a"))
            await reached(runs, "a", "done")
            await runs.start(order("b"))
            await reached(runs, "b", "done")
        assert run_ids(driver.driven) == ["a", "b"]

    async def test_an_idle_worker_that_should_drain_ends(self, stage: Stage) -> None:
        """A worker that has been idle for long, and has polled many times, is notified."""
        runs, asked = stage.open(EngineSettings(poll_s=0.02, idle_poll_s=0.02)), iter(range(8))
        with anyio.fail_after(PATIENCE_S):
            await runs.work(ScriptedDriver(), WorkScope(is_draining=lambda: next(asked, None) is None))

    async def test_lists_are_newest_first_and_filtered(self, stage: Stage) -> None:
        runs = stage.open()
        for name in ("a", "b", "c"):
            await runs.start(order(name, session_id="ses_b" if name == "b" else "ses_x"))
        await runs.stop("a")
        assert [view.order.id for view in await runs.list(RunFilter())] == ["c", "b", "a"]
        assert [view.order.id for view in await runs.list(RunFilter(states=("queued",), limit=1))] == ["c"]
        assert [view.order.id for view in await runs.list(RunFilter(session_id="ses_b"))] == ["b"]
        assert await runs.show("nothing") is None

    async def test_a_watcher_sees_every_change_once_and_in_order(self, stage: Stage) -> None:
        runs = stage.open()
        await runs.start(order("before"))
        seen: list[tuple[str, RunState]] = []
        async with stage.open().watch() as changes, stage.worker(seats=1):
            await runs.start(order("a", "ask"))
            with anyio.fail_after(PATIENCE_S):
                async for change in changes:
                    if change.run_id == "a":
                        seen.append((change.run_id, change.state))
                    if change.state == "input_required":
                        break
        assert seen == [("a", "queued"), ("a", "running"), ("a", "input_required")]
