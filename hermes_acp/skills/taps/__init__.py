"""Taps: git repositories of skills with a signed index."""
