"""Share a home's records with the other machines of its profile."""

from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment
from hermes_acp.config.settings import load_settings
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.fleet_access import fleet_access, load_fleet_libraries
from hermes_acp.storage.session_store import SessionStore

if TYPE_CHECKING:
    from hermes_acp.runs.fleet.records.fleet_records import FleetRecords


def share_records(environment: Environment, store: SessionStore) -> "FleetRecords":
    """Return the shared records of a home folder without connecting yet. Blocks. Raises ConfigError."""
    load_fleet_libraries()
    from hermes_acp.runs.fleet.postgres_database import PostgresDatabase
    from hermes_acp.runs.fleet.postgres_schema import MIGRATIONS
    from hermes_acp.runs.fleet.records.fleet_records import FleetRecords

    access = fleet_access(environment, load_settings(environment).fleet)
    database = PostgresDatabase(access.database, access.schema, MIGRATIONS, writes_alone=False)
    return FleetRecords(database, store.folder, store.path_of, EngineSettings())
