"""Containers on this machine: one per session, containing only what is mounted."""
