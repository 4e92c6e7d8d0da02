"""Runs: work that continues without a client, started by people, schedules and other programs."""
