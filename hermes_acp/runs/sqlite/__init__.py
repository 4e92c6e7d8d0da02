"""The embedded engine: runs in an SQLite file, for the processes on one machine."""
