"""Summarise the older part of a history."""
