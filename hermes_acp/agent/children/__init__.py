"""Run turns on behalf of another turn: delegated tasks and reflection."""
