"""The agent server that any editor can start."""

__version__ = "0.1.0"
