"""Stages for what outlives a session: the reminder of notes, and the external memory service."""
