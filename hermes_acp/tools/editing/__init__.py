"""Compute edits: patches, replacements and notebook changes."""
