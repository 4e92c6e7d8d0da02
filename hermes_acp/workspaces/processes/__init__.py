"""Processes on this machine: how they start, how they are found again, how they end."""
