"""Fold a session's events into its state and its history."""
