"""What sessions have used, and an index of it."""
