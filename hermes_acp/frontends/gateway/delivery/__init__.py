"""Deliver messages to people: splitting, pacing and deduplication."""
