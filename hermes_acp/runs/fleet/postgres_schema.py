"""The Postgres tables of a profile, which the statements in `runs.tables` use."""

from typing import Final

RUNS: Final = """
    CREATE TABLE runs (
        seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id TEXT NOT NULL UNIQUE, chain TEXT NOT NULL,
        session_id TEXT NOT NULL, origin TEXT NOT NULL, spec TEXT NOT NULL, state TEXT NOT NULL,
        priority INTEGER NOT NULL, not_before DOUBLE PRECISION NOT NULL, created_at DOUBLE PRECISION NOT NULL,
        updated_at DOUBLE PRECISION NOT NULL, started_at DOUBLE PRECISION NOT NULL DEFAULT 0,
        progress_at DOUBLE PRECISION NOT NULL DEFAULT 0, holder TEXT NOT NULL DEFAULT '',
        epoch INTEGER NOT NULL DEFAULT 0, beat INTEGER NOT NULL DEFAULT 0, crashes INTEGER NOT NULL DEFAULT 0,
        lapses INTEGER NOT NULL DEFAULT 0, busy INTEGER NOT NULL DEFAULT 0, must_stop INTEGER NOT NULL DEFAULT 0,
        waits_for TEXT NOT NULL DEFAULT '[]', failure TEXT NOT NULL DEFAULT '', sentence TEXT NOT NULL DEFAULT '',
        place TEXT NOT NULL DEFAULT ''
    );
    CREATE INDEX runs_by_state ON runs (state, priority, seq);
    CREATE INDEX runs_by_chain ON runs (chain, seq);
    CREATE INDEX runs_by_session ON runs (session_id, state);
    CREATE INDEX runs_by_origin ON runs (origin, state);
    CREATE TABLE messages (
        seq BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run_id TEXT NOT NULL, message TEXT NOT NULL
    );
    CREATE INDEX messages_by_run ON messages (run_id, seq);
    CREATE TABLE changes (
        cursor BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, run_id TEXT NOT NULL, state TEXT NOT NULL,
        at DOUBLE PRECISION NOT NULL, sentence TEXT NOT NULL
    );
    CREATE TABLE workers (
        id TEXT PRIMARY KEY, boot TEXT NOT NULL, since DOUBLE PRECISION NOT NULL, machine TEXT NOT NULL,
        places TEXT NOT NULL, drives_any INTEGER NOT NULL, seen_at TIMESTAMPTZ NOT NULL
    );
    CREATE TABLE schedules (
        id TEXT PRIMARY KEY, spec TEXT NOT NULL, is_paused INTEGER NOT NULL DEFAULT 0, next_at DOUBLE PRECISION,
        decided_until DOUBLE PRECISION NOT NULL
    );
    CREATE INDEX schedules_by_time ON schedules (next_at);
    CREATE TABLE occurrences (
        number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, schedule_id TEXT NOT NULL,
        due_at DOUBLE PRECISION NOT NULL, fate TEXT NOT NULL, decided_at DOUBLE PRECISION NOT NULL,
        run_id TEXT NOT NULL, count INTEGER NOT NULL, until DOUBLE PRECISION NOT NULL
    );
    CREATE INDEX occurrences_by_schedule ON occurrences (schedule_id, number);
    CREATE TABLE dispatches (
        run_id TEXT PRIMARY KEY, stamp DOUBLE PRECISION NOT NULL, sent_at TIMESTAMPTZ NOT NULL
    );
    CREATE FUNCTION announce_changes() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_notify(TG_TABLE_SCHEMA, ''); RETURN NULL; END $$;
    CREATE TRIGGER announce_changes AFTER INSERT ON changes
        FOR EACH STATEMENT EXECUTE FUNCTION announce_changes();
    CREATE TABLE prompts (
        name TEXT PRIMARY KEY, text TEXT NOT NULL, sources TEXT NOT NULL, stored_at DOUBLE PRECISION NOT NULL
    )
"""
RECORDS: Final = """
    CREATE TABLE records (
        session_id TEXT PRIMARY KEY, epoch BIGINT NOT NULL, holder TEXT NOT NULL, machine TEXT NOT NULL,
        size BIGINT NOT NULL, is_deleted INTEGER NOT NULL, changed_at TIMESTAMPTZ NOT NULL
    );
    CREATE INDEX records_by_change ON records (changed_at);
    CREATE TABLE record_parts (
        session_id TEXT NOT NULL, start BIGINT NOT NULL, content BYTEA NOT NULL, PRIMARY KEY (session_id, start)
    );
    CREATE TABLE record_holders (id TEXT PRIMARY KEY, beat BIGINT NOT NULL, seen_at TIMESTAMPTZ NOT NULL);
    CREATE FUNCTION announce_record(session_id TEXT) RETURNS void LANGUAGE sql AS $$
        SELECT pg_notify('hermes_records_' || md5(current_schema()), session_id) $$
"""
WORKSPACES: Final = """
    CREATE TABLE workspaces (
        top TEXT PRIMARY KEY, machine TEXT NOT NULL, commit_id TEXT NOT NULL, head TEXT NOT NULL,
        branch TEXT NOT NULL, origin TEXT NOT NULL, stored_at DOUBLE PRECISION NOT NULL
    )
"""
BOARDS: Final = """
    CREATE TABLE boards (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name TEXT NOT NULL, last BIGINT NOT NULL DEFAULT 0,
        created_at TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(), removed_at TIMESTAMPTZ
    );
    CREATE UNIQUE INDEX boards_by_name ON boards (name) WHERE removed_at IS NULL;
    CREATE TABLE board_entries (
        board_id BIGINT NOT NULL REFERENCES boards (id), number BIGINT NOT NULL, line TEXT NOT NULL,
        PRIMARY KEY (board_id, number)
    );
    CREATE FUNCTION announce_board(name TEXT) RETURNS void LANGUAGE sql AS $$
        SELECT pg_notify('hermes_boards_' || md5(current_schema()), name) $$
"""
MIGRATIONS: Final = (RUNS, RECORDS, WORKSPACES, BOARDS)
