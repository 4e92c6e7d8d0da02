"""The tables of runs and schedules, in statements that SQLite and Postgres both accept."""
