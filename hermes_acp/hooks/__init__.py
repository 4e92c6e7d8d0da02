"""Hooks: users' own commands that run at certain points in a session."""
