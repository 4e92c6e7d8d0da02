"""The engine for a fleet of machines: Postgres stores the runs, and Temporal dispatches them (extra `fleet`)."""

from hermes_acp.config.environment import Environment
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.core.ports.schedule_ports import Engine
from hermes_acp.runs.engine_settings import EngineSettings
from hermes_acp.runs.fleet.fleet_access import load_fleet_libraries


def open_runs(environment: Environment, clock: Clock, settings: EngineSettings) -> Engine:
    """Return the engine of a profile, which connects on first use. Raises ConfigError."""
    load_fleet_libraries()
    from hermes_acp.runs.fleet.fleet_profile import FleetProfile
    from hermes_acp.runs.fleet.postgres_prompts import PostgresPrompts
    from hermes_acp.runs.tables.stored_runs import StoredRuns

    profile = FleetProfile(environment, clock, settings)
    return StoredRuns(profile.database, clock, profile.workforce(), PostgresPrompts(profile.database, clock))


ENGINE = open_runs
