"""The hidden `hermes-acp drive` command: work on the run that the worker assigns on standard input."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from functools import partial

import anyio
from msgspec import structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.ports.run_ports import Driver
from hermes_acp.runs.processes.process_driver import ALLOW_BYPASS
from hermes_acp.runs.processes.process_messages import Assignment
from hermes_acp.runs.processes.run_process import RemoteParent, claim_streams, serve_run
from hermes_acp.shutdown import exit_process


def drive_command(arguments: Sequence[str]) -> int:
    """Work on one run and exit."""
    reading, writing = claim_streams()
    environment = structs.replace(read_environment(), allows_bypass=ALLOW_BYPASS in arguments)
    anyio.run(serve_run, reading, writing, partial(_driver, environment))
    exit_process(0)


@asynccontextmanager
async def _driver(
    environment: Environment, assignment: Assignment, parent: RemoteParent
) -> AsyncGenerator[Driver]:
    """Yield a driver with the sessions of this process, which are closed before the outcome is reported."""
    from hermes_acp.app.app import App

    app = App(environment, overrides=assignment.overrides)
    try:
        async with background_tasks(app.keep):
            yield app.run_service.driver((assignment.work, parent) if assignment.work else None)
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()
