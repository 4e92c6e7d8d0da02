"""A browser per session, each in a separate process."""
