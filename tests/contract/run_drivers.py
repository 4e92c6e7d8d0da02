"""Drivers for the tests of engines: a run's prompt reference says what the run does.

Started as a program, it is a worker process: `python -m tests.contract.run_drivers ENGINE HOME JOURNAL`.
"""

import os
import sys
from collections import defaultdict
from pathlib import Path

import anyio

from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import environment_of
from hermes_acp.core.ports.run_ports import (
    Crashed,
    Done,
    DriveOutcome,
    Failed,
    FailureKind,
    InputRequired,
    Lease,
    RunOrder,
    WorkScope,
)
from hermes_acp.runs.engine_choice import open_engine
from hermes_acp.runs.engine_settings import EngineSettings

QUICK = EngineSettings(lease_s=0.9, heartbeat_s=0.15, stall_s=3600, poll_s=0.2, idle_poll_s=0.2)
PATIENT = EngineSettings(lease_s=60, heartbeat_s=0.15, stall_s=3600, poll_s=0.2, idle_poll_s=0.2)
"""Claims that do not expire on a busy machine."""
LINGERING_S = 0.5
FAILURES: dict[str, FailureKind] = {"fail": "model", "busy": "busy"}


class ScriptedDriver:
    """Records what it drives in memory and in a file, then does what the prompt reference says."""

    def __init__(self, journal: Path | None = None) -> None:
        self.driven: list[tuple[str, int]] = []
        self.answers: list[str] = []
        self.cancelled: list[str] = []
        self.running = 0
        self.most_running = 0
        self.started: defaultdict[str, anyio.Event] = defaultdict(anyio.Event)
        self.may_end: defaultdict[str, anyio.Event] = defaultdict(anyio.Event)
        self._journal = journal

    def note(self, *words: object) -> None:
        if self._journal:
            with self._journal.open("a") as stream:
                stream.write(" ".join(map(str, words)) + "\n")

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        self.driven.append((order.id, lease.epoch))
        self.note("start", order.id, lease.epoch)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        self.started[order.id].set()
        try:
            return await self._drive(order, lease)
        except anyio.get_cancelled_exc_class():
            self.cancelled.append(order.id)
            self.note("cancelled", order.id, lease.epoch)
            raise
        finally:
            self.running -= 1

    async def _drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        match order.prompt_ref:
            case "hold":
                await self.may_end[order.id].wait()
            case "linger":
                try:
                    await self.may_end[order.id].wait()
                finally:
                    with anyio.CancelScope(shield=True):
                        await anyio.sleep(LINGERING_S)
            case "progress":
                while not self.may_end[order.id].is_set():
                    lease.note_progress()
                    await anyio.sleep(0.01)
            case "brief":
                await anyio.sleep(0.05)
            case "once_busy" if lease.epoch == 1:
                return Failed("busy")
            case "once_unstored" if lease.epoch == 1:
                return Failed("storage", "The database is starting up.")
            case "unstored":
                return Failed("storage", "The disk is gone.")
            case "ask":
                if not lease.messages:
                    return InputRequired(("call_1",), "May it?")
                self.answers.append(lease.messages[-1].text)
            case "crash":
                return Crashed()
            case "fail":
                return Failed(FAILURES[order.prompt_ref], "The model is gone.")
            case _:
                pass
        self.note("end", order.id, lease.epoch)
        return Done("All done.")


async def _work(name: str, home: Path, journal: Path) -> None:
    driver = ScriptedDriver(journal)
    driver.note("ready")
    await open_engine(
        environment_of({**os.environ, "HERMES_HOME": str(home)}), SystemClock(), QUICK, name
    ).work(driver, WorkScope())


if __name__ == "__main__":
    anyio.run(_work, sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
