"""The parts of `editor-clients/check.py`, which need only Python's standard library."""
