"""Deliver messages to people: split them, pace them and avoid duplicates."""
