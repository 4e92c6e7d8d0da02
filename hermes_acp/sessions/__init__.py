"""Live sessions: one turn at a time each, watched by any number of audiences."""
