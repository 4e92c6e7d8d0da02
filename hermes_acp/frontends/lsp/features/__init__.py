"""The methods that the server answers: one per file, exporting `FEATURE`."""
