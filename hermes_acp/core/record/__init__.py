"""Derive a session's state and history from its events."""
