"""A browser in a process of its own, one a session."""
