"""Compute edits: patches, replacements, notebooks."""
