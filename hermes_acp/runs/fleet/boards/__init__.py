"""Boards in Postgres, shared by all machines of a profile."""
