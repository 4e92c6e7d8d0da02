"""Work on each run in a process of its own."""
