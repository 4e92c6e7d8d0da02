"""The embedded engine: runs in one SQLite file, for the processes of one machine."""
