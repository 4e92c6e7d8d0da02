"""Keep notes for later sessions."""
