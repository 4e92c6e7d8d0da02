"""Deliver texts to people: splitting, pacing and deduplication."""
