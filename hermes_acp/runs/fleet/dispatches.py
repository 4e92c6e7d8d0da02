"""Record which due runs have been dispatched to Temporal, so that each is dispatched once per time it is queued.

A lost dispatch is repeated later. A duplicate dispatch of a run does no harm.
"""

from typing import Final

from msgspec import Struct

from hermes_acp.runs.tables.run_claims import IS_DUE
from hermes_acp.runs.tables.table_connection import TableConnection

MAX_AT_ONCE: Final = 200


class DueRun(Struct, frozen=True):
    """A run to dispatch; `machine` is the one that has its folder, if known."""

    id: str
    place: str
    priority: int
    machine: str = ""


def take_due(connection: TableConnection, now: float, *, max_running: int, resend_s: float) -> list[DueRun]:
    """Mark due runs as dispatched, and return them in order.

    `max_running` limits how many are dispatched or running at once.
    """
    room = MAX_AT_ONCE
    if max_running:
        (busy,) = connection.execute(
            """SELECT count(*) FROM runs LEFT JOIN dispatches ON run_id = id
               WHERE state = 'running' OR state = 'queued' AND stamp = updated_at
                     AND sent_at > clock_timestamp() - make_interval(secs => ?)""",
            (resend_s,),
        ).fetchone()
        room = min(room, max_running - busy)
    if room <= 0:
        return []
    rows = connection.execute(
        f"""SELECT id, place, priority, updated_at FROM runs AS due LEFT JOIN dispatches ON run_id = id
            WHERE {IS_DUE} AND (stamp IS NULL OR stamp <> updated_at
                                OR sent_at <= clock_timestamp() - make_interval(secs => :resend_s))
            ORDER BY priority, seq LIMIT :room""",
        {"now": now, "resend_s": resend_s, "room": room},
    ).fetchall()
    for run_id, _, _, stamp in rows:
        connection.execute(
            """INSERT INTO dispatches (run_id, stamp, sent_at) VALUES (?, ?, clock_timestamp())
               ON CONFLICT (run_id) DO UPDATE SET stamp = excluded.stamp, sent_at = excluded.sent_at""",
            (run_id, stamp),
        )
    return [DueRun(run_id, place, priority) for run_id, place, priority, _ in rows]


def forget_dispatch(connection: TableConnection, run_id: str) -> None:
    """Clear the mark of a dispatched run that has arrived or could not be dispatched."""
    connection.execute("DELETE FROM dispatches WHERE run_id = ?", (run_id,))
