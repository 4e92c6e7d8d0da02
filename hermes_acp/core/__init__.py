"""Messages, events, errors and ports: no I/O, no vendor."""
