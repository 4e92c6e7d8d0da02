"""The tables in the embedded engine's file."""

from typing import Final

RUNS: Final = (
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
"""Added after the schedules. Older rows belong to every ordinary worker."""
SCHEDULES: Final = """CREATE TABLE schedules (
        id TEXT PRIMARY KEY, spec TEXT NOT NULL, is_paused INTEGER NOT NULL DEFAULT 0, next_at REAL,
        decided_until REAL NOT NULL
    ) STRICT;
    CREATE INDEX schedules_by_time ON schedules (next_at);
    CREATE INDEX runs_by_origin ON runs (origin, state);
    CREATE TABLE occurrences (
        number INTEGER PRIMARY KEY AUTOINCREMENT, schedule_id TEXT NOT NULL, due_at REAL NOT NULL, fate TEXT NOT NULL,
        decided_at REAL NOT NULL, run_id TEXT NOT NULL, count INTEGER NOT NULL, until REAL NOT NULL
    ) STRICT;
    CREATE INDEX occurrences_by_schedule ON occurrences (schedule_id, number)"""
MIGRATIONS: Final = (*RUNS, SCHEDULES, PLACES)
