"""Connect a profile to its boards in the fleet's database."""

from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment
from hermes_acp.config.settings import load_settings
from hermes_acp.runs.fleet.fleet_access import fleet_access, load_fleet_libraries

if TYPE_CHECKING:
    from hermes_acp.runs.fleet.boards.postgres_boards import PostgresBoardLogs


def share_boards(environment: Environment, folder: Path) -> "PostgresBoardLogs":
    """Return the shared boards of a profile without connecting yet. Blocks. Raises ConfigError."""
    load_fleet_libraries()
    from hermes_acp.runs.fleet.boards.postgres_boards import PostgresBoardLogs
    from hermes_acp.runs.fleet.postgres_database import PostgresDatabase
    from hermes_acp.runs.fleet.postgres_schema import MIGRATIONS

    access = fleet_access(environment, load_settings(environment).fleet)
    database = PostgresDatabase(access.database, access.schema, MIGRATIONS, writes_alone=False)
    return PostgresBoardLogs(database, folder)
