"""Which model and key to try next, and when."""
