"""Runs: work that goes on without a client, started by people, by the clock and by other programs."""
