"""Choose which model and key to try next, and when."""
