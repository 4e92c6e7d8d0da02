"""Run a turn step by step to a named ending."""
