"""Decide whether a call may run, from the effects it would have."""
