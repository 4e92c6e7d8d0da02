"""The process of a run in tests: `python -m tests.contract.run_process_script JOURNAL`, started by a worker.

As `python -m tests.contract.run_process_script JOURNAL HOME`, it is a worker that starts such processes.
"""

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio

from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import environment_of
from hermes_acp.core.ports.run_ports import Done, DriveOutcome, Driver, Lease, RunOrder, WorkScope
from hermes_acp.runs.engine_choice import open_engine
from hermes_acp.runs.processes.process_driver import ProcessDriver
from hermes_acp.runs.processes.run_process import claim_streams, serve_run
from tests.contract.run_drivers import QUICK, ScriptedDriver


class JournalingDriver(ScriptedDriver):
    """Records its process ID, and can hang so that only a kill ends it."""

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        self.note("process", order.id, lease.epoch, os.getpid())
        if not await lease.confirm():
            self.note("fenced", order.id, lease.epoch)
        if order.prompt_ref == "once" and lease.epoch > 1:
            return Done("In the end.")
        if order.prompt_ref == "hang":
            signal.pause()
        return await super().drive(order, lease)

    async def _drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        if order.prompt_ref == "once":
            await anyio.sleep_forever()
        return await super()._drive(order, lease)


def command_for(journal: Path) -> list[str]:
    return [sys.executable, "-m", "tests.contract.run_process_script", str(journal)]


@asynccontextmanager
async def scripted(journal: Path, *_: object) -> AsyncGenerator[Driver]:
    yield JournalingDriver(journal)


async def _work(journal: Path, home: Path) -> None:
    await open_engine(environment_of({"HERMES_HOME": str(home)}), SystemClock(), QUICK).work(
        ProcessDriver(command_for(journal), home), WorkScope()
    )


if __name__ == "__main__":
    if len(sys.argv) > 2:
        anyio.run(_work, Path(sys.argv[1]), Path(sys.argv[2]))
    else:
        anyio.run(serve_run, *claim_streams(), partial(scripted, Path(sys.argv[1])))
