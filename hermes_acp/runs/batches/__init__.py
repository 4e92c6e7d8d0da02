"""Batches: many prompts from a file, each with a run and a line of results."""
