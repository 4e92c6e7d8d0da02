"""Turn the pinned protocol schemas into source code."""
