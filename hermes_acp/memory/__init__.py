"""Store notes for later sessions."""
