"""Drive each run in its own process."""
