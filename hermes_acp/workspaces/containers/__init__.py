"""Containers on this machine: one per session, with access only to what is mounted."""
