"""Watch folders for changes."""
