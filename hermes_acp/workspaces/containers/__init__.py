"""Containers of this machine: one a session, with nothing in it that is not given."""
