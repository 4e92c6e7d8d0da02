"""The tables of the embedded engine, and what their rows mean."""

import sqlite3
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

MIGRATIONS: Final = (
    """CREATE TABLE runs (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, chain TEXT NOT NULL,
        session_id TEXT NOT NULL, origin TEXT NOT NULL, spec TEXT NOT NULL, state TEXT NOT NULL,
        priority INTEGER NOT NULL, not_before REAL NOT NULL, created_at REAL NOT NULL, updated_at REAL NOT NULL,
        started_at REAL NOT NULL DEFAULT 0, progress_at REAL NOT NULL DEFAULT 0,
        holder TEXT NOT NULL DEFAULT '', epoch INTEGER NOT NULL DEFAULT 0, beat INTEGER NOT NULL DEFAULT 0,
        crashes INTEGER NOT NULL DEFAULT 0, lapses INTEGER NOT NULL DEFAULT 0, busy INTEGER NOT NULL DEFAULT 0,
        must_stop INTEGER NOT NULL DEFAULT 0, waits_for TEXT NOT NULL DEFAULT '[]',
        failure TEXT NOT NULL DEFAULT '', sentence TEXT NOT NULL DEFAULT ''
    ) STRICT;
    CREATE INDEX runs_by_state ON runs (state, priority, seq);
    CREATE INDEX runs_by_chain ON runs (chain, seq);
    CREATE TABLE messages (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, message TEXT NOT NULL
    ) STRICT;
    CREATE INDEX messages_by_run ON messages (run_id, seq);
    CREATE TABLE changes (
        cursor INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, state TEXT NOT NULL, at REAL NOT NULL,
        sentence TEXT NOT NULL
    ) STRICT;
    CREATE TABLE workers (id TEXT PRIMARY KEY, boot TEXT NOT NULL, since REAL NOT NULL) STRICT""",
)
PLACES: Final = """ALTER TABLE runs ADD COLUMN place TEXT NOT NULL DEFAULT '';
    ALTER TABLE workers ADD COLUMN places TEXT NOT NULL DEFAULT '[""]'"""
"""Added later than the schedules; rows of before belong to every ordinary worker."""
COLUMNS: Final = (
    "id, chain, session_id, origin, spec, state, priority, not_before, created_at, updated_at, started_at, "
    "progress_at, holder, epoch, crashes, lapses, waits_for, failure, sentence"
)
KEPT_CHANGES: Final = 100_000


def insert_run(connection: sqlite3.Connection, order: RunOrder, now: float) -> bool:
    """Add a run; return False if one with its ID exists."""
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
    connection: sqlite3.Connection, run_id: str, state: RunState, now: float, sentence: str = ""
) -> None:
    """Append a change; only the newest are kept."""
    added = connection.execute(
        "INSERT INTO changes (run_id, state, at, sentence) VALUES (?, ?, ?, ?)",
        (run_id, state, now, sentence),
    )
    connection.execute("DELETE FROM changes WHERE cursor <= ?", ((added.lastrowid or 0) - KEPT_CHANGES,))


def select_run(connection: sqlite3.Connection, run_id: str) -> RunView | None:
    """Return a run."""
    row = connection.execute(f"SELECT {COLUMNS} FROM runs WHERE id = ?", (run_id,)).fetchone()
    return view_of(row) if row else None


def select_runs(connection: sqlite3.Connection, which: RunFilter) -> list[RunView]:
    """List runs, newest first."""
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


def select_changes(connection: sqlite3.Connection, after: int, limit: int) -> list[RunChange]:
    """List changes after a cursor, oldest first."""
    rows = connection.execute(
        "SELECT cursor, run_id, state, at, sentence FROM changes WHERE cursor > ? ORDER BY cursor LIMIT ?",
        (after, limit),
    )
    return [RunChange(*row) for row in rows]


def last_cursor(connection: sqlite3.Connection) -> int:
    """Return the cursor of the newest change."""
    return connection.execute("SELECT ifnull(max(cursor), 0) FROM changes").fetchone()[0]


def insert_message(connection: sqlite3.Connection, run_id: str, message: RunMessage) -> None:
    """Store a message."""
    written = msgspec.json.encode(message).decode()
    connection.execute("INSERT INTO messages (run_id, message) VALUES (?, ?)", (run_id, written))


def select_messages(connection: sqlite3.Connection, run_id: str) -> tuple[RunMessage, ...]:
    """List a run's messages, oldest first."""
    rows: Iterable[tuple[str]] = connection.execute(
        "SELECT message FROM messages WHERE run_id = ? ORDER BY seq", (run_id,)
    )
    return tuple(msgspec.json.decode(message, type=RunMessage) for (message,) in rows)


def workers_at(place: str, connection: sqlite3.Connection) -> set[str]:
    """Return the IDs of the workers, living or not, that were started for a place."""
    rows: Iterable[tuple[str]] = connection.execute(
        "SELECT id FROM workers WHERE EXISTS (SELECT 1 FROM json_each(places) WHERE value = ?)", (place,)
    )
    return {worker_id for (worker_id,) in rows}


def view_of(row: Sequence[str | int | float]) -> RunView:
    """Return the run of a row with `COLUMNS`."""
    named: dict[str, Any] = dict(zip(COLUMNS.split(", "), row, strict=True))
    named["order"] = msgspec.json.decode(named.pop("spec"))
    named["waits_for"] = msgspec.json.decode(named["waits_for"])
    named["attempts"] = {name: named.pop(name) for name in ("epoch", "crashes", "lapses")}
    return msgspec.convert(named, RunView)
