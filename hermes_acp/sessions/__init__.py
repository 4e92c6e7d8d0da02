"""Live sessions. Each runs one turn at a time and can have any number of audiences."""
