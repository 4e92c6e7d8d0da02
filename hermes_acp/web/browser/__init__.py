"""A browser per session, each in a process of its own."""
