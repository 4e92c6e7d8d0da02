"""Replace the version in use by another one: found, installed beside it, tried, then switched to."""
