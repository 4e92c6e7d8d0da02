"""Runs in separate processes: killed, hanging, stopped, and abandoned by their worker."""

import os
import signal
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.ports.run_ports import RunMessage, WorkScope
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.processes.process_driver import ProcessDriver
from tests.architecture.sources import ROOT
from tests.contract.run_drivers import QUICK
from tests.contract.run_process_script import command_for
from tests.contract.run_stage import PATIENCE_S, order, reached
from tests.contract.test_embedded_runs import EmbeddedStage

pytestmark = pytest.mark.anyio


class ProcessStage(EmbeddedStage):
    """A home with workers whose runs have separate processes."""

    @property
    def journal(self) -> Path:
        return self.home / "journal"

    @asynccontextmanager
    async def driving(self, settings: EngineSettings = QUICK, grace_s: float = 5.0) -> AsyncGenerator[None]:
        runs = self.open(settings)

        async def work() -> None:
            await runs.work(ProcessDriver(command_for(self.journal), self.home, grace_s=grace_s), WorkScope())

        async with background_tasks(work):
            yield

    def lines(self, word: str) -> list[str]:
        written = self.journal.read_text() if self.journal.exists() else ""
        return [line for line in written.splitlines() if line.startswith(word)]

    async def process_of(self, run_id: str, epoch: int = 1) -> int:
        """Wait until a drive has started; return its process."""
        with anyio.fail_after(PATIENCE_S):
            while not (found := self.lines(f"process {run_id} {epoch} ")):
                await anyio.sleep(0.01)
        return int(found[0].split()[-1])


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncGenerator[ProcessStage]:
    stage = ProcessStage("embedded", tmp_path)
    yield stage
    await stage.aclose()


async def ended(pid: int) -> None:
    with anyio.fail_after(PATIENCE_S):
        while is_alive(pid):
            await anyio.sleep(0.01)


def is_alive(pid: int) -> bool:
    """Return whether a process runs; a zombie does not."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) and not done.stdout.startswith("Z")


async def test_a_run_is_driven_in_its_own_process_and_gets_answers(stage: ProcessStage) -> None:
    runs = stage.open()
    await runs.start(order("a", "ask"))
    async with stage.driving():
        view = await reached(runs, "a", "input_required")
        assert (view.sentence, view.waits_for) == ("May it?", ("call_1",))
        await runs.signal("a", RunMessage("call_1", "allow_once", "Yes."))
        view = await reached(runs, "a", "done")
    assert view.sentence == "All done."
    assert await stage.process_of("a") != os.getpid()
    assert stage.lines("fenced") == []


async def test_a_killed_process_is_a_crash_and_no_lapse_while_its_worker_survives(
    stage: ProcessStage,
) -> None:
    runs = stage.open()
    await runs.start(order("a", "once"))
    async with stage.driving():
        os.kill(await stage.process_of("a"), signal.SIGKILL)
        await stage.process_of("a", epoch=2)
        view = await reached(runs, "a", "done")
    assert (view.attempts.epoch, view.attempts.lapses) == (2, 0)
    assert [change.state for change in await runs.changes(0)] == [
        "queued", "running", "queued", "running", "done",
    ]  # fmt: skip


@pytest.mark.slow
async def test_a_process_that_hangs_is_ended_although_it_ignores_requests(stage: ProcessStage) -> None:
    """Liveness and progress are two different things: its worker renews the claim, but nothing advances."""
    runs = stage.open()
    await runs.start(order("a", "hang"))
    settings = EngineSettings(lease_s=0.9, heartbeat_s=0.15, stall_s=3, poll_s=0.2, idle_poll_s=0.2)
    async with stage.driving(settings, grace_s=0.2):
        pid = await stage.process_of("a")
        os.kill(pid, signal.SIGSTOP)
        view = await reached(runs, "a", "failed")
    assert (view.failure, view.attempts.epoch) == ("stalled", 1)
    assert not is_alive(pid)


@pytest.mark.slow
async def test_a_looping_process_keeps_its_claim_until_it_is_stopped(stage: ProcessStage) -> None:
    """Endless progress does not mean a dead worker: the run stays one attempt, and `stop` reaches it."""
    runs = stage.open()
    await runs.start(order("a", "progress"))
    settings = EngineSettings(lease_s=0.9, heartbeat_s=0.15, stall_s=2, poll_s=0.2, idle_poll_s=0.2)
    async with stage.driving(settings):
        pid = await stage.process_of("a")
        with anyio.fail_after(PATIENCE_S):
            while (seen := await runs.show("a")) is None or (
                seen.progress_at <= seen.started_at + settings.stall_s
            ):
                await anyio.sleep(0.05)
        view = await runs.stop("a")
        assert (view.state, view.attempts.epoch) == ("running", 1)
        await reached(runs, "a", "stopped")
        await ended(pid)
    assert stage.lines("cancelled") == ["cancelled a 1"]


async def test_a_worker_that_drains_stops_its_processes_and_returns_their_runs(stage: ProcessStage) -> None:
    runs = stage.open()
    await runs.start(order("a", "once"))
    async with stage.driving():
        pid = await stage.process_of("a")
    assert not is_alive(pid)
    view = await runs.show("a")
    assert view
    assert (view.state, view.attempts.crashes, view.attempts.lapses) == ("queued", 0, 0)


@pytest.mark.parametrize("prompt_ref", ["once", "hang"])
async def test_a_process_dies_with_its_killed_worker(stage: ProcessStage, prompt_ref: str) -> None:
    runs = stage.open()
    await runs.start(order("a", prompt_ref))
    command = [*command_for(stage.journal), str(stage.home)]
    worker = subprocess.Popen([sys.executable, *command[1:]], cwd=ROOT)
    try:
        pid = await stage.process_of("a")
        if prompt_ref == "hang":
            os.kill(pid, signal.SIGSTOP)
    finally:
        worker.kill()
        worker.wait(10)
    await ended(pid)
    if prompt_ref == "once":
        async with stage.driving():
            view = await reached(runs, "a", "done")
        assert (view.attempts.epoch, view.attempts.lapses) == (2, 0)
