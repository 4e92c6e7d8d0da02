"""Machines elsewhere that run a POSIX shell: how commands and files are had there."""
