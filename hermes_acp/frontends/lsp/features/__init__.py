"""The methods that the server handles: one per file, which exports `FEATURE`."""
