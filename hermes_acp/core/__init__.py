"""What was said, what happened, what can go wrong, and every seam: no I/O, no vendor."""
