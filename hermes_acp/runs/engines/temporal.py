"""Runs of many machines: kept in Postgres, handed to workers by Temporal (extra `fleet`)."""

from pathlib import Path

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.core.ports.schedule_ports import Engine
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.fleet_access import FleetAccess, fleet_access


def open_runs(environment: Environment, clock: Clock, settings: EngineSettings) -> Engine:
    """Return the engine of a profile; nothing is connected before its first use. Raises ConfigError."""
    from hermes_acp.config.settings import load_settings

    return open_fleet(
        environment.home, fleet_access(environment, load_settings(environment).fleet), clock, settings
    )


def open_fleet(home: Path, access: FleetAccess, clock: Clock, settings: EngineSettings) -> Engine:
    """Return the engine of a profile of a fleet. Raises ConfigError if the libraries are not installed."""
    try:
        from hermes_acp.runs.fleet.fleet_workforce import FleetWorkforce
        from hermes_acp.runs.fleet.postgres_database import PostgresDatabase
        from hermes_acp.runs.fleet.postgres_prompts import PostgresPrompts
        from hermes_acp.runs.fleet.postgres_schema import MIGRATIONS
    except ImportError as error:
        raise ConfigError(
            f"The fleet needs a library that is not installed: {error.name}.",
            hint="Install hermes-acp with the extra `fleet`.",
        ) from error
    from hermes_acp.runs.tables.stored_runs import StoredRuns

    database = PostgresDatabase(access.database, access.schema, MIGRATIONS)
    workforce = FleetWorkforce(database, access, home, clock, settings)
    return StoredRuns(database, clock, workforce, PostgresPrompts(database, clock))


ENGINE = open_runs
