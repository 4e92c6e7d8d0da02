"""Run a turn for another turn: delegated tasks and reflection."""
