"""Run a turn step by step until it ends for a named reason."""
