"""Commands of a person's own that run at points of a session."""
