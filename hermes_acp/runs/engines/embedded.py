"""The engine for a single machine, with an SQLite file in the home folder."""

from hermes_acp.config.environment import Environment
from hermes_acp.core.ports.runtime_ports import Clock
from hermes_acp.core.ports.schedule_ports import Engine
from hermes_acp.runs.engine_settings import EngineSettings


def open_runs(environment: Environment, clock: Clock, settings: EngineSettings) -> Engine:
    """Return the engine of a home folder, which opens nothing until first use."""
    from hermes_acp.runs.prompt_store import FilePrompts
    from hermes_acp.runs.sqlite.local_workforce import LocalWorkforce
    from hermes_acp.runs.sqlite.run_database import RunDatabase
    from hermes_acp.runs.sqlite.sqlite_schema import MIGRATIONS
    from hermes_acp.runs.tables.stored_runs import StoredRuns

    home = environment.home
    database = RunDatabase(home / "runs.db", MIGRATIONS)
    return StoredRuns(database, clock, LocalWorkforce(database, home, clock, settings), FilePrompts(home))


ENGINE = open_runs
