"""Run a step's tool calls: permission, order, time limits, outcomes."""
