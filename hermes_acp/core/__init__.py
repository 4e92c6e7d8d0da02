"""Messages, events, errors and ports; no I/O and no vendor-specific code."""
