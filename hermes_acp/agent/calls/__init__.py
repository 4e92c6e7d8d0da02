"""Run the tool calls of one step: permissions, ordering, time limits and outcomes."""
