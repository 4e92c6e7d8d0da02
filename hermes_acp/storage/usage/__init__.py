"""The model and tool usage of sessions, and an index of it."""
