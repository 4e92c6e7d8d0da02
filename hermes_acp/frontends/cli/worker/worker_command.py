"""The `hermes-acp worker` command: work on cards and other runs, each in its own process."""

import argparse
from typing import TYPE_CHECKING, Final

import anyio
from msgspec import structs

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.config.environment import Environment, environment_of_profile, read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.run_ports import DriveOutcome, Lease, RunOrder, WorkScope
from hermes_acp.frontends.cli.cli_output import escaped, note
from hermes_acp.frontends.cli.flag_values import positive_number
from hermes_acp.frontends.cli.worker import messages
from hermes_acp.shutdown import ShutdownGuard, code_after

if TYPE_CHECKING:
    from hermes_acp.app.app import App

DEFAULT_SLOTS: Final = 2
DEFAULT_DRAIN_S: Final = 30.0


def add_worker(worker: argparse.ArgumentParser) -> None:
    """Add the flags to the parser."""
    worker.add_argument("--board", action="append", default=[], metavar="NAME", help=messages.BOARD_HELP)
    worker.add_argument(
        "--slots",
        type=positive_number(int),
        default=DEFAULT_SLOTS,
        metavar="N",
        help=messages.SLOTS_HELP.format(default=DEFAULT_SLOTS),
    )
    worker.add_argument("--place", action="append", default=[], metavar="LABEL", help=messages.PLACE_HELP)
    worker.add_argument(
        "--with-profile", action="append", default=[], metavar="NAME", help=messages.PROFILE_HELP
    )
    worker.add_argument("--only-places", action="store_true", help=messages.ONLY_PLACES_HELP)
    worker.add_argument(
        "--drain",
        type=positive_number(float),
        default=DEFAULT_DRAIN_S,
        metavar="S",
        help=messages.DRAIN_HELP.format(default=DEFAULT_DRAIN_S),
    )
    worker.add_argument("--allow-bypass", action="store_true", help=messages.ALLOW_BYPASS_HELP)


def run_worker(options: argparse.Namespace) -> int:
    """Work until a signal arrives; return the exit code. Raises BadRequest."""
    if options.only_places and not options.place:
        raise BadRequest(messages.NO_PLACES)
    guard = ShutdownGuard(drain_s=options.drain)
    guard.watch_signals()
    guard.start()
    return anyio.run(_work, options, read_environment(), guard)


async def _work(options: argparse.Namespace, environment: Environment, guard: ShutdownGuard) -> int:
    from hermes_acp.app.app import App

    app = App(structs.replace(environment, allows_bypass=options.allow_bypass))
    try:
        return await _Worker(app, environment, options).run(guard)
    finally:
        with anyio.CancelScope(shield=True):
            await app.aclose()


class _ReportingDriver:
    """Starts a process for each run of a profile, and reports the progress of these runs."""

    def __init__(self, environment: Environment, running: set[str], *, allows_bypass: bool) -> None:
        """Prepare the driver, which keeps the IDs of the current runs in `running`."""
        from hermes_acp.runs.processes.process_driver import ProcessDriver, drive_line

        self._running = running
        line = drive_line(environment.profile, allows_bypass=allows_bypass)
        self._driver = ProcessDriver(line, environment.home, self._report_start)

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        """Work on a run until it ends or is suspended."""
        self._running.add(order.id)
        try:
            outcome = await self._driver.drive(order, lease)
        finally:
            self._running.discard(order.id)
        sentence: str = getattr(outcome, "sentence", "")
        note(escaped(messages.ended(order.id, type(outcome).__name__, sentence)))
        return outcome

    def _report_start(self, run_id: str, pid: int) -> None:
        note(escaped(messages.started(run_id, pid)))


class _Worker:
    """Coordinates boards and works on runs."""

    def __init__(self, app: "App", environment: Environment, options: argparse.Namespace) -> None:
        self._app = app
        self._environment = environment
        self._options = options
        self._running: set[str] = set()
        self._is_draining = False

    async def run(self, guard: ShutdownGuard) -> int:
        """Run until a signal arrives and, after SIGTERM, until running work ends; return the exit code."""
        options = self._options
        for name in options.board:
            await self._app.board_service.create(name)
        places = (*(() if options.only_places else ("",)), *options.place)
        scope = WorkScope(seats=options.slots, places=places, is_draining=lambda: self._is_draining)
        code = 0
        coordinator = self._app.board_coordinator(options.board)
        async with background_tasks(coordinator.keep), anyio.create_task_group() as tasks:

            async def stop() -> None:
                nonlocal code
                code = code_after(await guard.stopped())
                if code == 0:
                    await self._drain(guard)
                tasks.cancel_scope.cancel()

            tasks.start_soon(stop)
            note(messages.ready(options.slots))
            await self._work(scope)
            tasks.cancel_scope.cancel()
        guard.end_drain()
        return code

    async def _work(self, scope: WorkScope) -> None:
        """Work on the runs of this profile, and of others that share its pool."""
        if not self._options.with_profile:
            await self._app.run_service.engine.work(self._driver(self._environment), scope)
            return
        from hermes_acp.clock import SystemClock
        from hermes_acp.runs.engine_settings import EngineSettings
        from hermes_acp.runs.fleet.fleet_access import load_fleet_libraries

        load_fleet_libraries()
        from hermes_acp.runs.fleet.fleet_profile import FleetProfile, drive_profiles

        others = (environment_of_profile(name) for name in self._options.with_profile)
        environments = {each.profile: each for each in (self._environment, *others)}.values()
        clock, settings = SystemClock(), EngineSettings()
        profiles = {FleetProfile(each, clock, settings): self._driver(each) for each in environments}
        await drive_profiles(profiles, scope)

    def _driver(self, environment: Environment) -> _ReportingDriver:
        return _ReportingDriver(environment, self._running, allows_bypass=self._options.allow_bypass)

    async def _drain(self, guard: ShutdownGuard) -> None:
        """Start no more work, and wait for running work until another signal arrives or the time limit is reached."""
        self._is_draining = True
        if self._running:
            note(messages.draining(len(self._running)))
        with anyio.move_on_after(self._options.drain):
            await guard.stopped()
