"""The tables of runs and schedules: statements that SQLite and Postgres both understand."""
