"""Decide whether a call may run, based on the effects that it would have."""
