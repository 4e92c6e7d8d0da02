"""Live sessions, each with one turn at a time and any number of audiences."""
