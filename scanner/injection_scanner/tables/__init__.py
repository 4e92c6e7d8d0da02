"""Data tables of rules, cues and weights, and their loaders."""
