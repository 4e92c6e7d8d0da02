"""Read and write the rows of runs, their messages and their changes."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

import msgspec

from hermes_acp.core.ports.run_ports import (
    RunChange,
    RunFilter,
    RunMessage,
    RunOrder,
    RunState,
    RunView,
)
from hermes_acp.runs.tables.table_connection import TableConnection

COLUMNS: Final = (
    "id, chain, session_id, origin, spec, state, priority, not_before, created_at, updated_at, started_at, "
    "progress_at, holder, epoch, crashes, lapses, waits_for, failure, sentence"
)
KEPT_CHANGES: Final = 100_000


def insert_run(connection: TableConnection, order: RunOrder, now: float) -> bool:
    """Add a run; return False if there already is one with its ID."""
    done = connection.execute(
        """INSERT INTO runs
               (id, chain, session_id, origin, spec, state, priority, not_before, created_at, updated_at, place)
           VALUES (?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING""",
        (
            order.id, order.chain or order.session_id, order.session_id, order.origin,
            msgspec.json.encode(order).decode(), order.priority, order.not_before, now, now,
            order.place,
        ),
    )  # fmt: skip
    if done.rowcount:
        note_change(connection, order.id, "queued", now)
    return bool(done.rowcount)


def note_change(
    connection: TableConnection, run_id: str, state: RunState, now: float, sentence: str = ""
) -> None:
    """Append a change; only the newest changes are kept."""
    added = connection.execute(
        "INSERT INTO changes (run_id, state, at, sentence) VALUES (?, ?, ?, ?) RETURNING cursor",
        (run_id, state, now, sentence),
    )
    (cursor,) = added.fetchone()
    connection.execute("DELETE FROM changes WHERE cursor <= ?", (cursor - KEPT_CHANGES,))


def select_run(connection: TableConnection, run_id: str) -> RunView | None:
    """Return a run, or None if it does not exist."""
    row = connection.execute(f"SELECT {COLUMNS} FROM runs WHERE id = ?", (run_id,)).fetchone()
    return view_of(row) if row else None


def select_runs(connection: TableConnection, which: RunFilter) -> list[RunView]:
    """List runs, the newest first."""
    states = ",".join("?" * len(which.states))
    conditions = [f"state IN ({states})"] if states else []
    values: list[str | int] = [*which.states]
    for column, value in (("session_id", which.session_id),):
        if value:
            conditions.append(f"{column} = ?")
            values.append(value)
    if which.origin:
        conditions.append("substr(origin, 1, ?) = ?")
        values += [len(which.origin), which.origin]
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = connection.execute(
        f"SELECT {COLUMNS} FROM runs {where} ORDER BY seq DESC LIMIT ?", (*values, which.limit)
    )
    return [view_of(row) for row in rows]


def select_changes(connection: TableConnection, after: int, limit: int) -> list[RunChange]:
    """List the changes after a cursor, the oldest first."""
    rows = connection.execute(
        "SELECT cursor, run_id, state, at, sentence FROM changes WHERE cursor > ? ORDER BY cursor LIMIT ?",
        (after, limit),
    )
    return [RunChange(*row) for row in rows]


def last_cursor(connection: TableConnection) -> int:
    """Return the cursor of the newest change."""
    return connection.execute("SELECT coalesce(max(cursor), 0) FROM changes").fetchone()[0]


def insert_message(connection: TableConnection, run_id: str, message: RunMessage) -> None:
    """Store a message."""
    written = msgspec.json.encode(message).decode()
    connection.execute("INSERT INTO messages (run_id, message) VALUES (?, ?)", (run_id, written))


def select_messages(connection: TableConnection, run_id: str) -> tuple[RunMessage, ...]:
    """List a run's messages, the oldest first."""
    rows: Iterable[tuple[str]] = connection.execute(
        "SELECT message FROM messages WHERE run_id = ? ORDER BY seq", (run_id,)
    )
    return tuple(msgspec.json.decode(message, type=RunMessage) for (message,) in rows)


def view_of(row: Sequence[str | int | float]) -> RunView:
    """Convert a row with `COLUMNS` to a run."""
    named: dict[str, Any] = dict(zip(COLUMNS.split(", "), row, strict=True))
    named["order"] = msgspec.json.decode(named.pop("spec"))
    named["waits_for"] = msgspec.json.decode(named["waits_for"])
    named["attempts"] = {name: named.pop(name) for name in ("epoch", "crashes", "lapses")}
    return msgspec.convert(named, RunView)
