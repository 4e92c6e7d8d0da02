"""One turn and what surrounds it."""
