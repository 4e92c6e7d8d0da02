"""Processes on this machine: how they are started, tracked and ended."""
