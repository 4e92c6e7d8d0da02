"""The tables of runs and schedules, used through statements that both SQLite and Postgres accept."""
