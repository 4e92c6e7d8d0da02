"""The workers of a fleet: Temporal assigns runs to them, and Postgres notifies them of changes."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import anyio
from anyio.to_thread import run_sync

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.run_ports import Driver, WorkScope
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.dispatcher import Dispatcher
from hermes_acp.runs.fleet.fleet_access import FleetAccess
from hermes_acp.runs.fleet.fleet_member import FleetMember, OpenCopies
from hermes_acp.runs.fleet.fleet_peers import any_is_there, machine_of, seen_workers
from hermes_acp.runs.fleet.postgres_changes import PostgresChanges, changes_of
from hermes_acp.runs.fleet.postgres_database import PostgresDatabase
from hermes_acp.runs.tables.run_tables import select_run


class FleetWorkforce:
    """The workers of one profile in a fleet; implements `Workforce`."""

    def __init__(
        self,
        database: PostgresDatabase,
        access: FleetAccess,
        home: Path,
        clock: Clock,
        settings: EngineSettings,
        open_copies: OpenCopies | None = None,
    ) -> None:
        """Store the arguments; nothing is connected until first use.

        With `open_copies`, folders move along with their runs.
        """
        self._database = database
        self._folder = home / "runs" / "workers"
        self._clock = clock
        self._settings = settings
        self._open_copies = open_copies
        self._dispatcher = Dispatcher(database, access, clock, settings)

    async def announce(self) -> None:
        """Dispatch due runs; if that fails now, a worker does it later."""
        with suppress(StorageError):
            await self._dispatcher.send()

    @asynccontextmanager
    async def watching(self) -> AsyncGenerator[PostgresChanges]:
        """Receive notifications of changes while the block runs. Raises StorageError."""
        async with changes_of(self._database, self._settings.poll_s) as changes:
            yield changes

    async def has_worker(self, place: str) -> bool:
        """Return whether a running process works on the runs of a place."""
        within_s = self._settings.lease_s + self._settings.heartbeat_s + self._settings.poll_s
        workers = await self._database.read(lambda connection: seen_workers(connection, place, within_s))
        machine = await run_sync(machine_of, self._folder)
        return await any_is_there(workers, self._folder, machine)

    async def work(self, driver: Driver, scope: WorkScope) -> None:
        """Work on runs as they become due, until cancelled or drained."""
        member = self.member(driver)
        if not scope.only:
            from hermes_acp.runs.fleet.pool_worker import drive_pool

            await drive_pool({member.access.tenant: member}, scope)
            return
        try:
            await member.open(scope.places, drives_any=False)
            await self._drive_only(member, scope.only)
        finally:
            with anyio.CancelScope(shield=True):
                await member.close()

    def member(self, driver: Driver) -> FleetMember:
        """Return the part of a worker that serves this profile."""
        return FleetMember(
            self._database,
            self._dispatcher,
            self._folder,
            self._clock,
            self._settings,
            driver,
            self._open_copies,
        )

    async def aclose(self) -> None:
        """Do nothing: there is nothing to release, and the connection to Temporal ends with the process."""

    async def _drive_only(self, member: FleetMember, run_id: str) -> None:
        """Work on one run in this process, whatever other workers exist, until it ends or waits."""
        async with self.watching() as changes, background_tasks(member.keep):
            while True:
                rest = await member.drive_run(run_id)
                run = await self._database.read(lambda connection: select_run(connection, run_id))
                if run is None or run.state not in ("queued", "running"):
                    return
                if rest == "held":
                    await changes.wait()
