"""Connect a profile to its fleet: to its database, and to the workers for its runs."""

from collections.abc import Mapping

import anyio

from hermes_acp.config.environment import Environment
from hermes_acp.config.settings import load_settings
from hermes_acp.core.ports.run_ports import Driver, WorkScope
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.fleet_access import fleet_access
from hermes_acp.runs.fleet.fleet_member import FleetMember
from hermes_acp.runs.fleet.fleet_workforce import FleetWorkforce
from hermes_acp.runs.fleet.pool_worker import drive_pool
from hermes_acp.runs.fleet.postgres_database import PostgresDatabase
from hermes_acp.runs.fleet.postgres_schema import MIGRATIONS
from hermes_acp.runs.fleet.workspaces.folder_copies import FolderCopies


class FleetProfile:
    """Connects one profile to its fleet."""

    def __init__(self, environment: Environment, clock: Clock, settings: EngineSettings) -> None:
        """Read the settings without connecting. Blocks. Raises ConfigError."""
        self.access = fleet_access(environment, load_settings(environment).fleet)
        self.database = PostgresDatabase(self.access.database, self.access.schema, MIGRATIONS)
        self._environment = environment
        self._clock = clock
        self._settings = settings

    def workforce(self) -> FleetWorkforce:
        """Return the workers for this profile's runs."""
        return FleetWorkforce(
            self.database,
            self.access,
            self._environment.home,
            self._clock,
            self._settings,
            self._open_copies if self.access.workspaces else None,
        )

    def _open_copies(self, machine: str) -> FolderCopies:
        environment = self._environment
        folder = environment.state_folder / "workspace-exchange.git"
        return FolderCopies(environment.variables, folder, self.access.workspaces, machine)


async def drive_profiles(profiles: Mapping[FleetProfile, Driver], scope: WorkScope) -> None:
    """Work on the runs of profiles that share a pool until cancelled or drained, then close their databases.

    Raises ConfigError or StorageError.
    """
    members: dict[str, FleetMember] = {
        profile.access.tenant: profile.workforce().member(driver) for profile, driver in profiles.items()
    }
    try:
        await drive_pool(members, scope)
    finally:
        with anyio.CancelScope(shield=True):
            for profile in profiles:
                await profile.database.aclose()
