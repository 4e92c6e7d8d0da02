"""Data tables of rules, cues and weights, and how they are loaded."""
