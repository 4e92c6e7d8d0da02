"""Model and tool usage of sessions, and an index of it."""
