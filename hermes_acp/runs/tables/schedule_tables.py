"""Read and write the rows of schedules; each due time is decided and handled in one transaction."""

from typing import Any, Final

import msgspec

from hermes_acp.core.ports.run_ports import RunOrder
from hermes_acp.core.ports.schedule_ports import Occurrence, Schedule, ScheduleView
from hermes_acp.runs.schedule_decisions import Decided, Decision, decide
from hermes_acp.runs.tables.run_tables import insert_run, note_change
from hermes_acp.runs.tables.table_connection import TableConnection

ACTIVE: Final = "('queued', 'running', 'input_required', 'parked')"
MAX_WAITING: Final = 10
"""How many runs of one schedule may wait for the one before them."""
KEPT_OCCURRENCES: Final = 1000


def origin_of(schedule_id: str) -> str:
    """Return the `origin` for a schedule's runs."""
    return f"schedule:{schedule_id}"


def select_schedules(connection: TableConnection, schedule_id: str = "") -> list[ScheduleView]:
    """List schedules, the next due first."""
    rows = connection.execute(
        "SELECT spec, is_paused, next_at FROM schedules WHERE ? IN ('', id) ORDER BY next_at IS NULL, next_at, id",
        (schedule_id,),
    )
    return [
        ScheduleView(msgspec.json.decode(spec, type=Schedule), bool(paused), next_at)
        for spec, paused, next_at in rows
    ]


def insert_schedule(connection: TableConnection, schedule: Schedule, next_at: float, now: float) -> bool:
    """Add a schedule; return False if its ID is taken."""
    done = connection.execute(
        "INSERT INTO schedules (id, spec, next_at, decided_until) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
        (schedule.id, msgspec.json.encode(schedule).decode(), next_at, now),
    )
    return bool(done.rowcount)


def decided_until(connection: TableConnection, schedule_id: str) -> float:
    """Return the time up to which due times have been decided."""
    row = connection.execute("SELECT decided_until FROM schedules WHERE id = ?", (schedule_id,)).fetchone()
    return row[0] if row else 0.0


def store_decisions(
    connection: TableConnection,
    schedule: Schedule,
    decided: Decided,
    now: float,
    run_ids: dict[float, str] | None = None,
) -> None:
    """Append decisions to the history and store the next due time."""
    for each in decided.decisions:
        run_id = (run_ids or {}).get(each.due_at, "")
        append_occurrence(connection, schedule.id, each, now, run_id)
    connection.execute(
        """UPDATE schedules SET next_at = ?,
           decided_until = CASE WHEN decided_until > ? THEN decided_until ELSE ? END WHERE id = ?""",
        (decided.next_at, now, now, schedule.id),
    )


def append_occurrence(
    connection: TableConnection, schedule_id: str, decision: Decision, now: float, run_id: str
) -> None:
    """Append to a schedule's history; only the newest entries are kept."""
    connection.execute(
        """INSERT INTO occurrences (schedule_id, due_at, fate, decided_at, run_id, count, until)
           VALUES (?, ?, ?, ?, ?, ?, ?)""",
        (
            schedule_id,
            decision.due_at,
            decision.fate,
            now,
            run_id,
            decision.count,
            decision.until or decision.due_at,
        ),
    )
    connection.execute(
        """DELETE FROM occurrences WHERE schedule_id = ? AND number <= (SELECT number FROM occurrences
           WHERE schedule_id = ? ORDER BY number DESC LIMIT 1 OFFSET ?)""",
        (schedule_id, schedule_id, KEPT_OCCURRENCES),
    )


def select_history(connection: TableConnection, schedule_id: str, limit: int) -> list[Occurrence]:
    """List the outcomes of due times, the newest first."""
    rows = connection.execute(
        """SELECT schedule_id, due_at, fate, decided_at, run_id, count, until FROM occurrences
           WHERE schedule_id = ? ORDER BY number DESC LIMIT ?""",
        (schedule_id, limit),
    )
    return [Occurrence(*row) for row in rows]


def start_due(connection: TableConnection, now: float) -> bool:
    """Decide about all due times and start the runs; return whether anything was due."""
    due = connection.execute(
        "SELECT spec, decided_until FROM schedules WHERE next_at <= ? AND is_paused = 0", (now,)
    ).fetchall()
    for spec, until in due:
        schedule = msgspec.json.decode(spec, type=Schedule)
        active: list[Any] = connection.execute(
            f"SELECT id, state FROM runs WHERE origin = ? AND state IN {ACTIVE}", (origin_of(schedule.id),)
        ).fetchall()
        has_room = len(active) <= MAX_WAITING
        decided = decide(schedule, until, now, is_active=bool(active))
        run_ids: dict[float, str] = {}
        decisions: list[Decision] = []
        for decision in decided.decisions:
            if decision.fate == "started" and not has_room:
                decision = Decision(decision.due_at, "skipped")
            elif decision.fate == "started":
                if schedule.overlap == "cancel":
                    stop_runs(connection, [row[0] for row in active], now)
                run_ids[decision.due_at] = start_run(connection, schedule, decision.due_at, now)
            decisions.append(decision)
        store_decisions(connection, schedule, Decided(tuple(decisions), decided.next_at), now, run_ids)
    return bool(due)


def start_run(connection: TableConnection, schedule: Schedule, at: float, now: float) -> str:
    """Add the run for a due time. Its ID is derived from the time, so it can be started only once."""
    run_id, template = f"{schedule.id}-{int(at)}", schedule.template
    origin = origin_of(schedule.id)
    order = RunOrder(
        run_id,
        f"ses_{run_id}".replace(".", "_").replace(":", "_"),
        template.prompt_ref,
        template.cwd,
        mode=template.mode,
        backend=template.backend,
        model=template.model,
        budget=template.budget,
        priority=template.priority,
        chain=origin,
        origin=origin,
    )
    insert_run(connection, order, now)
    return run_id


def stop_runs(connection: TableConnection, run_ids: list[str], now: float) -> None:
    """Stop runs; those in progress end as soon as their worker is notified."""
    for run_id in run_ids:
        (state,) = connection.execute("SELECT state FROM runs WHERE id = ?", (run_id,)).fetchone()
        if state == "running":
            connection.execute("UPDATE runs SET must_stop = 1 WHERE id = ?", (run_id,))
            continue
        connection.execute(
            "UPDATE runs SET state = 'stopped', waits_for = '[]', updated_at = ? WHERE id = ?", (now, run_id)
        )
        note_change(connection, run_id, "stopped", now)


def next_schedule(connection: TableConnection) -> float | None:
    """Return when the next schedule is due, or None."""
    return connection.execute("SELECT min(next_at) FROM schedules WHERE is_paused = 0").fetchone()[0]
