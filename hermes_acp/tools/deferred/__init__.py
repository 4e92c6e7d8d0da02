"""Tools whose schemas are not in every request: the model searches for them and calls them by name."""
