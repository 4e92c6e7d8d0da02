"""The judges: a file for each kind of effect."""
