"""Decide whether a call may run, based on the effects it would have."""
