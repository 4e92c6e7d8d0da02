"""Remove old rows from an engine's tables."""

from typing import Final

from hermes_acp.runs.tables.table_connection import TableConnection

KEPT_OF_EACH_SCHEDULE: Final = 50
"""How many entries in each schedule's history are kept, however old they are."""


def prune(connection: TableConnection, before: float) -> int:
    """Remove old history, and runs that ended before a time, with their messages and changes.

    Returns the number of runs removed.
    """
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS old_runs (id TEXT PRIMARY KEY)")
    connection.execute("DELETE FROM old_runs")
    connection.execute(
        """INSERT INTO old_runs
           SELECT id FROM runs WHERE state IN ('done', 'failed', 'stopped') AND updated_at < ?""",
        (before,),
    )
    for table, column in (("messages", "run_id"), ("changes", "run_id"), ("runs", "id")):
        connection.execute(f"DELETE FROM {table} WHERE {column} IN (SELECT id FROM old_runs)")
    connection.execute(
        """DELETE FROM occurrences WHERE decided_at < ? AND number NOT IN (
               SELECT newer.number FROM occurrences AS newer WHERE newer.schedule_id = occurrences.schedule_id
               ORDER BY newer.number DESC LIMIT ?)""",
        (before, KEPT_OF_EACH_SCHEDULE),
    )
    return connection.execute("SELECT count(*) FROM old_runs").fetchone()[0]
